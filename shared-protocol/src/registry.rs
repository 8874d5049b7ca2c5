//! The registry's module format: node types as data. A module is a JSON file with types and connection rules; the
//! authority composes modules and project overrides into the effective registry, one bad entry disabling only itself.

use crate::{BoardKind, Node, PortId, PropKey, TypeId, Value, messages::Severity};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::{collections::BTreeMap, fmt, sync::Arc};

/// The version of the module format that this build reads.
pub const MODULE_FORMAT: u32 = 1;

/// A module as it stands in a file. Entries stay undecoded so that a wrong one can be named and left out.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ModuleFile {
    pub format: u32,
    /// Unique among modules; a later module with the same id replaces nothing but the types it declares.
    pub module: String,
    pub title: String,
    #[serde(default)]
    pub types: Vec<serde_json::Value>,
    #[serde(default)]
    pub connections: Vec<serde_json::Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TypeDef {
    pub id: TypeId,
    pub title: String,
    #[serde(default)]
    pub description: String,
    /// The heading in the palette.
    pub category: String,
    /// Board kinds it may stand on; empty means all.
    #[serde(default)]
    pub boards: Vec<BoardKind>,
    /// A word from the icon set.
    #[serde(default)]
    pub icon: String,
    /// The accent that tells families apart.
    #[serde(default)]
    pub accent: Accent,
    /// How it is drawn.
    #[serde(default)]
    pub shape: Shape,
    /// Holds other nodes.
    #[serde(default)]
    pub container: bool,
    /// Containers it may stand in.
    #[serde(default)]
    pub parents: Vec<Pattern>,
    /// May stand on the board itself; when absent: only if it names no parents.
    #[serde(default)]
    pub root: Option<bool>,
    #[serde(default)]
    pub size: Option<Size>,
    #[serde(default)]
    pub ports: Vec<PortDef>,
    #[serde(default)]
    pub props: Vec<PropDef>,
    #[serde(default)]
    pub outputs: Vec<OutputDef>,
    /// What kind of block it becomes in Terraform, if any.
    #[serde(default)]
    pub block: Block,
    /// The Terraform type it becomes.
    #[serde(default)]
    pub terraform: Option<String>,
    /// The Terraform type where a property decides it, such as the operating system.
    #[serde(default)]
    pub terraform_by: Option<TerraformBy>,
    /// Nested blocks that are written even when nothing stands in them.
    #[serde(default)]
    pub always: Vec<String>,
    /// Resources that come along with this one, one for each target of a reference.
    #[serde(default)]
    pub companions: Vec<Companion>,
    /// The parts of it that a private endpoint can lead to, the usual one first. Standing in a subnet makes one.
    #[serde(default)]
    pub private_endpoint: Vec<Choice>,
    /// What it costs.
    #[serde(default)]
    pub cost: Option<CostModel>,
    /// The reference that standing in a container sets.
    #[serde(default)]
    pub parent_reference: Option<PropKey>,
    /// Short form for naming conventions.
    #[serde(default)]
    pub abbreviation: Option<String>,
    /// What a name made by a convention must keep to.
    #[serde(default)]
    pub naming: Naming,
    /// The property that says what kind of thing a node is, where the type stands for many.
    #[serde(default)]
    pub kind_property: Option<PropKey>,
    /// Named sets of props, of a component.
    #[serde(default)]
    pub variants: Vec<VariantDef>,
    /// Other components that a component shows.
    #[serde(default)]
    pub parts: Vec<PartDef>,
}

/// A named set of props of a component.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct VariantDef {
    pub id: String,
    #[serde(default)]
    pub props: BTreeMap<PropKey, Value>,
}

/// A component within another, as that one's file says it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PartDef {
    /// What the component around it calls it: unique there, and the same when lines move.
    pub name: String,
    pub component: TypeId,
    /// How many loops it stands in; each makes several of it.
    #[serde(default)]
    pub loops: usize,
    /// What the component around it sets, where that is fixed.
    #[serde(default)]
    pub props: BTreeMap<PropKey, Value>,
    /// What it computes.
    #[serde(default)]
    pub computed: Vec<PropKey>,
}

impl TypeDef {
    /// What a node of it is, in a word or two.
    pub fn kind_of<'a>(&'a self, node: &'a Node) -> &'a str {
        let said = self.kind_property.as_ref().and_then(|key| node.props.get(key)?.as_text());
        said.filter(|said| !said.is_empty()).unwrap_or(&self.title)
    }

    /// Every Terraform type it can become.
    pub fn terraform_types(&self) -> impl Iterator<Item = &str> {
        let by = self.terraform_by.iter().flat_map(|by| by.types.values());
        self.terraform.iter().chain(by).map(String::as_str)
    }

    pub fn prop(&self, key: &str) -> Option<&PropDef> {
        self.props.iter().find(|prop| prop.key.as_str() == key)
    }

    pub fn port(&self, id: &str) -> Option<&PortDef> {
        self.ports.iter().find(|port| port.id.as_str() == id)
    }

    pub fn may_stand_on(&self, kind: BoardKind) -> bool {
        self.boards.is_empty() || self.boards.contains(&kind)
    }

    pub fn may_be_root(&self) -> bool {
        self.root.unwrap_or(self.parents.is_empty())
    }

    pub fn may_stand_in(&self, container: &TypeDef) -> bool {
        container.container && self.parents.iter().any(|pattern| pattern.matches(&container.id))
    }

    pub fn default_size(&self) -> Size {
        self.size.unwrap_or(match (self.container, self.shape) {
            (true, _) => Size { w: 320, h: 200 },
            (false, Shape::Note) => Size { w: 200, h: 120 },
            (false, Shape::Card) => Size { w: 184, h: 64 },
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Size {
    pub w: i32,
    pub h: i32,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Shape {
    #[default]
    Card,
    /// A sticky note: its text is its face.
    Note,
}

/// Named accents; the theme decides the colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Accent {
    #[default]
    Grey,
    Blue,
    Teal,
    Green,
    Yellow,
    Orange,
    Red,
    Purple,
    Pink,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PortDef {
    pub id: PortId,
    pub label: String,
    pub direction: Direction,
    #[serde(default)]
    pub side: Option<Side>,
    #[serde(default)]
    pub max_connections: Option<u32>,
}

impl PortDef {
    pub fn side(&self) -> Side {
        self.side.unwrap_or(match self.direction {
            Direction::In => Side::Left,
            Direction::Out => Side::Right,
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Direction {
    In,
    Out,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Side {
    Left,
    Right,
    Top,
    Bottom,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PropDef {
    pub key: PropKey,
    pub label: String,
    #[serde(default)]
    pub description: String,
    pub kind: PropKind,
    /// The heading in the inspector.
    #[serde(default)]
    pub group: String,
    #[serde(default)]
    pub exposure: Exposure,
    /// Why an opaque property cannot be shown.
    #[serde(default)]
    pub reason: String,
    #[serde(default)]
    pub required: bool,
    #[serde(default)]
    pub default: Option<Value>,
    #[serde(default)]
    pub placeholder: String,
    #[serde(default)]
    pub unit: String,
    #[serde(default)]
    pub step: Option<f64>,
    /// Smallest number, fewest characters or fewest items.
    #[serde(default)]
    pub min: Option<f64>,
    #[serde(default)]
    pub max: Option<f64>,
    /// Whole numbers only.
    #[serde(default)]
    pub whole: bool,
    /// A regular expression that the whole text must match.
    #[serde(default)]
    pub pattern: Option<String>,
    /// What the pattern means, in words.
    #[serde(default)]
    pub pattern_hint: String,
    #[serde(default)]
    pub options: Vec<Choice>,
    /// Types a reference may point at.
    #[serde(default)]
    pub targets: Vec<Pattern>,
    /// A reference may have several targets.
    #[serde(default)]
    pub many: bool,
    #[serde(default)]
    pub visible_when: Option<Condition>,
    /// Masked on screen, never shown to agents.
    #[serde(default)]
    pub sensitive: bool,
    /// Where it goes in Terraform, when not under its own key: `block.block.argument`; `[]` at the end stands for a
    /// list of blocks.
    #[serde(default)]
    pub argument: Option<String>,
    /// Further conditions; it is shown when all hold.
    #[serde(default)]
    pub also_when: Vec<Condition>,
    /// What it is for, when not an argument.
    #[serde(default)]
    pub role: Role,
    /// A reference without a target points at the nearest container around the node that fits.
    #[serde(default)]
    pub from_ancestor: bool,
    /// The attribute of the target that a reference reads; told by the end of its key when absent.
    #[serde(default)]
    pub attribute: Option<String>,
    /// The property that names the output of the target that a reference reads.
    #[serde(default)]
    pub output_from: Option<PropKey>,
    /// What counts when nothing is set: `reference.attribute` of another property, or `client.attribute` of whoever
    /// runs Terraform.
    #[serde(default)]
    pub inherit: Option<String>,
}

impl PropDef {
    /// Where it goes in Terraform.
    pub fn argument(&self) -> &str {
        self.argument.as_deref().unwrap_or(self.key.as_str())
    }

    /// The attribute of its target that a reference reads.
    pub fn target_attribute(&self) -> &str {
        let key = self.key.as_str();
        match &self.attribute {
            Some(attribute) => attribute,
            None if key.ends_with("_arn") || key.ends_with("_arns") => "arn",
            None if key.ends_with("_name") || key.ends_with("_names") => "name",
            None => "id",
        }
    }
}

/// What a property is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    /// An argument of the resource.
    #[default]
    Argument,
    /// Steers what is written and is not written itself.
    Setting,
    /// How much is used, for the cost.
    Usage,
    /// HCL that stands in the block as it is.
    Extra,
}

/// The kind of block that a type becomes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Block {
    /// A resource, if a Terraform type is given; nothing otherwise.
    #[default]
    Resource,
    Data,
    Variable,
    Local,
    Output,
    /// A call of a module that is kept elsewhere.
    Module,
    /// Text that stands as it is.
    Verbatim,
    /// A child module of what stands inside.
    Group,
}

/// The Terraform type by the value of a property.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TerraformBy {
    pub prop: PropKey,
    pub types: BTreeMap<Arc<str>, String>,
}

/// A resource that comes along with another. Arguments are `self.attribute`, `target.attribute`, or `=` and a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Companion {
    /// The reference; each target makes one.
    pub each: PropKey,
    pub terraform: String,
    /// What its name ends in.
    pub suffix: String,
    pub arguments: BTreeMap<String, String>,
}

/// What names must keep to where they are made by a convention.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Naming {
    #[serde(default)]
    pub lowercase: bool,
    #[serde(default)]
    pub no_hyphens: bool,
    #[serde(default)]
    pub max: Option<u32>,
}

/// What a type costs: nothing, or the sum of its components.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CostModel {
    #[serde(default)]
    pub free: bool,
    #[serde(default)]
    pub components: Vec<CostComponent>,
}

/// One thing that is billed: the price of a unit times all factors. A unit of an hour counts 730 times a month.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CostComponent {
    pub label: String,
    /// The heading in a price book.
    pub service: String,
    /// The line in a price book; `{key}` stands for the value of a property.
    pub sku: String,
    pub unit: String,
    /// Numbers, and keys of properties that hold one.
    #[serde(default)]
    pub factors: Vec<Value>,
    #[serde(default)]
    pub when: Option<Condition>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PropKind {
    Text,
    Multiline,
    Number,
    Boolean,
    Select,
    Multiselect,
    Colour,
    Cidr,
    /// Text to text.
    Tags,
    /// A list of texts.
    List,
    Object,
    Json,
    Reference,
    /// A place for child components; filled by nesting, not by a value.
    Slot,
}

impl PropKind {
    pub fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Multiline => "text of several lines",
            Self::Number => "a number",
            Self::Boolean => "true or false",
            Self::Select => "one of the options",
            Self::Multiselect => "a list of options",
            Self::Colour => "a colour such as #3366ff",
            Self::Cidr => "an address range such as 10.0.0.0/16",
            Self::Tags => "an object of texts",
            Self::List => "a list of texts",
            Self::Object => "an object",
            Self::Json => "any JSON",
            Self::Reference => "a reference to a node",
            Self::Slot => "filled by nesting",
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Exposure {
    #[default]
    Editable,
    ReadOnly,
    Opaque,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Choice {
    pub value: Arc<str>,
    pub label: String,
    #[serde(default)]
    pub description: String,
}

/// When a property is shown and may be set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Condition {
    pub prop: PropKey,
    pub is: Operator,
    #[serde(default)]
    pub value: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Operator {
    Eq,
    Neq,
    In,
    NotIn,
    Truthy,
    Falsy,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OutputDef {
    pub key: PropKey,
    pub label: String,
    /// The Terraform attribute, when not the key.
    #[serde(default)]
    pub attribute: Option<String>,
    #[serde(default)]
    pub sensitive: bool,
}

/// Two ports may be connected when a rule says so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConnectionRule {
    pub source: PortPattern,
    pub target: PortPattern,
    #[serde(default)]
    pub label: String,
    /// A reference that the connection stands for: set with it, cleared with it.
    #[serde(default)]
    pub sets: Option<SetsReference>,
    /// Terraform makes the source before the target.
    #[serde(default)]
    pub depends: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortPattern {
    #[serde(rename = "type")]
    pub type_id: Pattern,
    pub port: PortId,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetsReference {
    /// The end whose property is set; it then points at the other end.
    pub on: End,
    pub prop: PropKey,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum End {
    Source,
    Target,
}

/// Matches type ids; `*` stands for any run of characters.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Pattern(Arc<str>);

impl Pattern {
    pub fn parse(text: &str) -> Result<Self, String> {
        let fits = |c: char| c.is_ascii_alphanumeric() || "_-./*".contains(c);
        if text.is_empty() || text.len() > 128 || !text.chars().all(fits) {
            return Err(format!(
                "{text:?} is not a type pattern: expected a type id in which `*` stands for anything"
            ));
        }
        Ok(Self(Arc::from(text)))
    }

    pub fn matches(&self, type_id: &TypeId) -> bool {
        glob(self.0.as_bytes(), type_id.as_str().as_bytes())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Names exactly one type.
    pub fn is_exact(&self) -> bool {
        !self.0.contains('*')
    }
}

/// Linear in practice: on a mismatch only the last `*` takes one more character.
fn glob(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t, mut last_star) = (0, 0, None);
    while t < text.len() {
        if p < pattern.len() && pattern[p] == b'*' {
            last_star = Some((p, t));
            p += 1;
        } else if p < pattern.len() && pattern[p] == text[t] {
            p += 1;
            t += 1;
        } else if let Some((star, taken)) = last_star {
            last_star = Some((star, taken + 1));
            p = star + 1;
            t = taken + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&byte| byte == b'*')
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl Serialize for Pattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// What a project changes about a type, from `draftboard.toml`. It can only restrict and reword what modules declare.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TypeOverride {
    #[serde(default)]
    pub disabled: bool,
    #[serde(default)]
    pub title: Option<String>,
    #[serde(default)]
    pub props: BTreeMap<PropKey, PropOverride>,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PropOverride {
    #[serde(default)]
    pub label: Option<String>,
    #[serde(default)]
    pub description: Option<String>,
    #[serde(default)]
    pub group: Option<String>,
    #[serde(default)]
    pub exposure: Option<Exposure>,
    #[serde(default)]
    pub required: Option<bool>,
    #[serde(default)]
    pub default: Option<Value>,
    #[serde(default)]
    pub min: Option<f64>,
    #[serde(default)]
    pub max: Option<f64>,
    /// Keeps only these options.
    #[serde(default)]
    pub options: Option<Vec<String>>,
}

/// An entry of a module or an override that was left out, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegistryProblem {
    /// The module or file it stands in.
    pub origin: String,
    /// The type, rule or property.
    pub entry: String,
    pub message: String,
}

impl RegistryProblem {
    /// Something that a module declares is left out, and with it whatever was drawn of it.
    pub const SEVERITY: Severity = Severity::Error;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_ids() {
        let check =
            |pattern: &str, id: &str| Pattern::parse(pattern).unwrap().matches(&TypeId::parse(id).unwrap());
        assert!(check("aws/*", "aws/compute/instance"));
        assert!(check("*", "ui.button"));
        assert!(check("a*c*e", "abcde"));
        assert!(check("aws/compute/instance", "aws/compute/instance"));
        assert!(!check("aws/*", "azurerm/core/resource_group"));
        assert!(!check("aws/compute", "aws/compute/instance"));
        assert!(!check("a*c", "abcd"));
        assert!(Pattern::parse("").is_err());
        assert!(Pattern::parse("a b").is_err());
    }
}
