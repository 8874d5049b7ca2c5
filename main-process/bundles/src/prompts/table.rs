//! The prompt definitions and their arguments.

pub struct Prompt {
    pub name: &'static str,
    pub description: &'static str,
    pub arguments: &'static [PromptArgument],
}

pub struct PromptArgument {
    pub name: &'static str,
    pub description: &'static str,
    pub is_required: bool,
    /// The allowed values; any value if empty.
    pub values: &'static [&'static str],
}

const fn required(name: &'static str, description: &'static str) -> PromptArgument {
    PromptArgument { name, description, is_required: true, values: &[] }
}

const fn optional(name: &'static str, description: &'static str) -> PromptArgument {
    PromptArgument { name, description, is_required: false, values: &[] }
}

const fn choice(
    name: &'static str,
    description: &'static str,
    values: &'static [&'static str],
) -> PromptArgument {
    PromptArgument { name, description, is_required: false, values }
}

const BUNDLE: PromptArgument = optional("bundleId", "Bundle id; optional when one bundle is loaded");

/// All prompts, in listing order.
pub static PROMPTS: &[Prompt] = &[
    Prompt {
        name: "implement-requirement",
        description: "Generate an implementation plan for a requirement",
        arguments: &[
            BUNDLE,
            required("requirementId", "The requirement"),
            choice("depth", "Level of detail", &["overview", "detailed", "with-code"]),
        ],
    },
    Prompt {
        name: "explain-entity",
        description: "Get a clear explanation of any entity for different audiences",
        arguments: &[
            BUNDLE,
            required("entityType", "The entity's type"),
            required("entityId", "The entity"),
            choice(
                "audience",
                "Audience of the explanation",
                &["developer", "stakeholder", "new-team-member"],
            ),
        ],
    },
    Prompt {
        name: "audit-profile",
        description: "Perform a conformance audit against a profile",
        arguments: &[
            BUNDLE,
            required("profileId", "The profile"),
            choice("scope", "Scope of the audit", &["full", "requirements-only", "quick"]),
        ],
    },
    Prompt {
        name: "trace-dependency",
        description: "Trace upstream/downstream dependencies for any entity",
        arguments: &[
            BUNDLE,
            required("entityType", "The entity's type"),
            required("entityId", "The entity"),
            choice("direction", "Direction of the trace", &["upstream", "downstream", "both"]),
        ],
    },
    Prompt {
        name: "coverage-analysis",
        description: "Analyze coverage gaps in specifications",
        arguments: &[
            BUNDLE,
            choice("focus", "Focus of the analysis", &["requirements", "features", "threats", "all"]),
            optional("threshold", "Target coverage in percent, 80 by default"),
        ],
    },
    Prompt {
        name: "suggest-relations",
        description: "Suggest missing relationships between entities",
        arguments: &[
            BUNDLE,
            optional("entityType", "Only entities of this type"),
            choice("confidence", "Minimum confidence of suggestions", &["high", "medium", "all"]),
        ],
    },
    Prompt {
        name: "generate-test-cases",
        description: "Generate test cases for requirements or features",
        arguments: &[
            BUNDLE,
            PromptArgument {
                name: "entityType",
                description: "The entity's type",
                is_required: true,
                values: &["Requirement", "Feature"],
            },
            required("entityId", "The entity"),
            choice("style", "Style of the test cases", &["bdd", "traditional", "checklist"]),
        ],
    },
    Prompt {
        name: "summarize-bundle",
        description: "Generate executive/technical summaries of a bundle",
        arguments: &[
            BUNDLE,
            choice("format", "Audience of the summary", &["executive", "technical", "onboarding"]),
        ],
    },
    Prompt {
        name: "diff-bundles",
        description: "Compare two bundles and highlight differences",
        arguments: &[
            required("bundleA", "The first bundle"),
            required("bundleB", "The second bundle"),
            choice("focus", "Focus of the comparison", &["all", "requirements", "structure"]),
        ],
    },
    Prompt {
        name: "create-roadmap",
        description: "Generate implementation roadmap from specifications",
        arguments: &[
            BUNDLE,
            optional("scope", "all, or the id of an entity to plan around"),
            choice("format", "Structure of the roadmap", &["timeline", "phases", "milestones"]),
        ],
    },
    Prompt {
        name: "bundle-health",
        description: "Analyze bundle health and generate a report",
        arguments: &[BUNDLE],
    },
];
