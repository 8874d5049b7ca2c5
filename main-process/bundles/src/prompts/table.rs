//! What prompts there are, and their arguments.

pub struct Prompt {
    pub name: &'static str,
    pub description: &'static str,
    pub arguments: &'static [PromptArgument],
}

pub struct PromptArgument {
    pub name: &'static str,
    pub description: &'static str,
    pub is_required: bool,
    /// What may be given, if that is a fixed list.
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

const BUNDLE: PromptArgument = optional("bundleId", "Bundle id; may be left out when one bundle is loaded");

/// All prompts, in the order in which they are listed.
pub static PROMPTS: &[Prompt] = &[
    Prompt {
        name: "implement-requirement",
        description: "Generate an implementation plan for a requirement",
        arguments: &[
            BUNDLE,
            required("requirementId", "The requirement"),
            choice("depth", "How much detail", &["overview", "detailed", "with-code"]),
        ],
    },
    Prompt {
        name: "explain-entity",
        description: "Get a clear explanation of any entity for different audiences",
        arguments: &[
            BUNDLE,
            required("entityType", "The entity's type"),
            required("entityId", "The entity"),
            choice("audience", "Whom to explain it to", &["developer", "stakeholder", "new-team-member"]),
        ],
    },
    Prompt {
        name: "audit-profile",
        description: "Perform a conformance audit against a profile",
        arguments: &[
            BUNDLE,
            required("profileId", "The profile"),
            choice("scope", "How much to audit", &["full", "requirements-only", "quick"]),
        ],
    },
    Prompt {
        name: "trace-dependency",
        description: "Trace upstream/downstream dependencies for any entity",
        arguments: &[
            BUNDLE,
            required("entityType", "The entity's type"),
            required("entityId", "The entity"),
            choice("direction", "Which way", &["upstream", "downstream", "both"]),
        ],
    },
    Prompt {
        name: "coverage-analysis",
        description: "Analyze coverage gaps in specifications",
        arguments: &[
            BUNDLE,
            choice("focus", "What to look at", &["requirements", "features", "threats", "all"]),
            optional("threshold", "Wanted coverage in percent, 80 by default"),
        ],
    },
    Prompt {
        name: "suggest-relations",
        description: "Suggest missing relationships between entities",
        arguments: &[
            BUNDLE,
            optional("entityType", "Only entities of this type"),
            choice("confidence", "How sure suggestions must be", &["high", "medium", "all"]),
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
        arguments: &[BUNDLE, choice("format", "Whom it is for", &["executive", "technical", "onboarding"])],
    },
    Prompt {
        name: "diff-bundles",
        description: "Compare two bundles and highlight differences",
        arguments: &[
            required("bundleA", "The one bundle"),
            required("bundleB", "The other bundle"),
            choice("focus", "What to compare", &["all", "requirements", "structure"]),
        ],
    },
    Prompt {
        name: "create-roadmap",
        description: "Generate implementation roadmap from specifications",
        arguments: &[
            BUNDLE,
            optional("scope", "all, or the id of an entity to plan around"),
            choice("format", "How to organize it", &["timeline", "phases", "milestones"]),
        ],
    },
    Prompt {
        name: "bundle-health",
        description: "Analyze bundle health and generate a report",
        arguments: &[BUNDLE],
    },
];
