//! Sessions against previews that behave and previews that do not.
