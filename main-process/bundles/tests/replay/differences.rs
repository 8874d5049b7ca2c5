//! Deliberate differences from the recorded answers.

pub(crate) struct Difference {
    /// The reason, with the contract clause or defect behind it.
    pub(crate) reason: &'static str,
    pub(crate) cases: &'static [&'static str],
    /// Prefixes of the paths that may differ; everything else must be equal.
    pub(crate) places: &'static [&'static str],
}

/// The paths that differ when a success becomes a refusal or the reverse.
const OUTCOME: &[&str] =
    &["/ok", "/data", "/meta", "/diagnostics", "/bundleId", "/error", "/files/", "/after/"];

pub(crate) static DIFFERENCES: &[Difference] = &[
    Difference {
        reason: "Ids are unique over all types, and data.id is entityId (defects: cross-type duplicate id accepted; id/data.id/file name may disagree)",
        cases: &["apply_changes/create-id-exists-in-other-type"],
        places: OUTCOME,
    },
    Difference {
        reason: "An id cannot lead out of the bundle (defect: path traversal through entityId)",
        cases: &["apply_changes/create-path-traversal"],
        places: OUTCOME,
    },
    Difference {
        reason: "Strict rejects references to the wrong type (contract: strict rejects broken references; defect: ref-type check dead)",
        cases: &["apply_changes/create-ref-wrong-type"],
        places: OUTCOME,
    },
    Difference {
        reason: "A dry run is strict by default and refuses what the write would refuse (contract: validate defaults to strict; defect: dry run weaker than the write)",
        cases: &["apply_changes/create-schema-violation-dryrun", "apply_changes/update-bad-enum-dryrun"],
        places: OUTCOME,
    },
    Difference {
        reason: "Later changes see earlier ones, so a referrer and its target can go in one batch (defect: graph not refreshed)",
        cases: &["apply_changes/delete-referrer-and-target"],
        places: OUTCOME,
    },
    Difference {
        reason: "A new entity goes where its type is read from (defect: layout vs directory mismatch)",
        cases: &["apply_changes/layout-fallback-dir"],
        places: &[
            "/data/modifiedFiles",
            "/data/results/0/affectedFiles",
            "/files/",
            "/after/0/data/ids",
            "/after/0/meta",
        ],
    },
    Difference {
        reason: "A batch that fails writes nothing at all (contract: atomic; defects: non-atomic writes, unknown entity type accepted)",
        cases: &["apply_changes/write-failure-midway"],
        places: &["/files/"],
    },
    Difference {
        reason: "Arguments with a fixed list of values complete too",
        cases: &["completions/prompt-enum-not-completable"],
        places: &["/values", "/total"],
    },
    Difference {
        reason: "Dependencies are followed as deep as asked (defect: export depths have no effect beyond 1)",
        cases: &["export_context/no-relations", "export_entity_markdown/deep"],
        places: &[
            "/data/dependencies",
            "/data/exportMeta",
            "/data/includedDependencies",
            "/data/markdown",
            "/meta/dependencyCount",
        ],
    },
    Difference {
        reason: "get_context goes as deep as asked (contract: graph traversal with depth; defect: depth has no effect beyond 1)",
        cases: &["get_context/depth-3"],
        places: &["/data/related", "/meta/relatedCount", "/meta/truncated"],
    },
    Difference {
        reason: "A type that is asked for twice is counted once",
        cases: &["get_bundle_snapshot/filter-duplicates"],
        places: &["/meta/entityCount", "/meta/entityTypes", "/meta/totalEntities"],
    },
    Difference {
        reason: "The threshold of coverage-analysis can be given (deviation: threshold cannot be passed)",
        cases: &["prompts/coverage-analysis-threshold-string"],
        places: &["/error"],
    },
    Difference {
        reason: "A title that is no text does not break the search (deviation: crashes on non-string title)",
        cases: &["search_entities/numeric-title"],
        places: &["/ok"],
    },
    Difference {
        reason: "A broken lint rule disables only itself (defect: one bad lint rule kills everything)",
        cases: &["startup/lint-bad-regex/bad-regex"],
        places: &["/exit"],
    },
    Difference {
        reason: "An unknown keyword in a schema is an annotation (defects: strict Ajv refuses ordinary schemas, one bad schema disables everything)",
        cases: &["validate_bundle/schema-does-not-compile"],
        places: &["/data/summary", "/diagnostics"],
    },
    Difference {
        reason: "validate_bundle looks at the disk (contract: validate a bundle; deviation: returns findings of the last load)",
        cases: &["validate_bundle/stale-after-external-edit"],
        places: &["/data/summary", "/diagnostics"],
    },
];
