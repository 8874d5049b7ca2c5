//! The person at this machine.

/// Returns the login name for the log and the audit; it is never empty.
pub(crate) fn user_name() -> String {
    let from_environment = |key| std::env::var(key).ok().filter(|name: &String| !name.trim().is_empty());
    from_environment("USER").or_else(|| from_environment("LOGNAME")).unwrap_or_else(|| {
        let passwd = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        name_of_uid(&passwd, rustix::process::getuid().as_raw())
    })
}

/// Finds the name in the text of a passwd file. A service or a container may have a uid that is not in it.
fn name_of_uid(passwd: &str, uid: u32) -> String {
    let name = passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (name, _password, id) = (fields.next()?, fields.next()?, fields.next()?);
        (id.parse() == Ok(uid) && !name.is_empty()).then(|| name.to_owned())
    });
    name.unwrap_or_else(|| format!("uid {uid}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_without_a_name_in_the_environment_has_the_passwd_name_or_the_uid() {
        let passwd = "root:x:0:0:root:/root:/bin/sh\n# broken\nada:x:1000:1000::/home/ada:/bin/sh\n";
        assert_eq!(name_of_uid(passwd, 1000), "ada");
        assert_eq!(name_of_uid(passwd, 100), "uid 100");
        assert_eq!(name_of_uid("", 0), "uid 0");
    }
}
