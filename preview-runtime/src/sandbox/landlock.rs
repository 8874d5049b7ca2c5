//! Denies all access to the file system, the network and other processes through Landlock, as a second layer behind the
//! system call filter.

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetError, RulesetStatus, Scope,
};
use shared_protocol::preview_wire::LandlockLevel;

pub(super) fn deny_all() -> LandlockLevel {
    match restrict() {
        Ok(RulesetStatus::FullyEnforced) => LandlockLevel::Full,
        Ok(RulesetStatus::PartiallyEnforced) => LandlockLevel::Partial,
        Ok(RulesetStatus::NotEnforced) | Err(_) => LandlockLevel::None,
    }
}

fn restrict() -> Result<RulesetStatus, RulesetError> {
    let newest = ABI::V9;
    let status = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(newest))?
        .handle_access(AccessNet::from_all(newest))?
        .scope(Scope::from_all(newest))?
        .create()?
        .no_new_privs(true)
        .restrict_self()?;
    Ok(status.ruleset)
}
