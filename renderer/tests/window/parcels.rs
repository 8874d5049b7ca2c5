//! A spec bundle of a parcel locker as main would tell of it, made by hand from the schemas of the engine's own tests.

use crate::shop::{Main, Response, Shop, response};
use shared_protocol::{
    BoardId, Refusal, RefusalCode, Revision,
    bundle::{
        BundleDiagnostic, BundleView, BundlesView, EntityRef, EntitySummary, EntityTypeView, EntityView,
        RelationCoverageView, RelationView, SchemaView,
    },
    messages::{AppliedCommand, ProblemSeverity, ToRenderer},
    requests::{
        ChangeBundle, CheckBundle, CheckedBundle, DrawnMap, ReadSchema, SearchEntities, ShowEntity,
        WorkbenchRequest,
    },
};

macro_rules! schema {
    ($name:literal) => {
        include_str!(concat!(
            "../../../main-process/bundles/tests/fixtures/bundles/parcel/schemas/",
            $name,
            ".schema.json"
        ))
    };
}

pub(crate) const KNOWLEDGE: &str = "# Parcel lockers\n\nA courier deposits a parcel in a **locker cell**; the recipient opens it with a one-time code.\n\n## Codes\n\n- Codes expire after 72 hours.\n- Three wrong ones lock the cell.\n\n## Cells\n\nA cell has a door sensor.\n\n| Size | Depth |\n|---|---|\n| small | 30 cm |\n| large | 60 cm |\n\n### Sensors\n\nThey report within a second.\n";

pub(crate) fn reference(kind: &str, id: &str) -> EntityRef {
    EntityRef { bundle: "parcel".into(), entity_type: kind.into(), id: id.into() }
}

fn schema_of(kind: &str) -> SchemaView {
    let (schema, references): (&str, &[(&str, &str)]) = match kind {
        "Requirement" => (
            schema!("Requirement"),
            &[("realizesFeatureIds", "Feature"), ("ownerId", "Actor"), ("parentId", "Requirement")],
        ),
        "Feature" => (schema!("Feature"), &[("governedByAdrIds", "ADR")]),
        "ADR" => (schema!("ADR"), &[("supersedes", "ADR")]),
        "Profile" => (
            schema!("Profile"),
            &[("requiresFeatures", "Feature"), ("conformanceRules.linkedRequirement", "Requirement")],
        ),
        "Actor" => (schema!("Actor"), &[]),
        _ => (schema!("Task"), &[("dependsOnTaskIds", "Task")]),
    };
    let references = references.iter().map(|(path, kind)| ((*path).to_owned(), vec![(*kind).to_owned()]));
    SchemaView { schema: schema.into(), id_field: "id".into(), references: references.collect() }
}

/// Main's side of one bundle.
pub(crate) struct Parcels {
    pub(crate) generation: u64,
    /// Type, title and JSON of each, by load order.
    pub(crate) entities: Vec<(EntityRef, String, String)>,
    pub(crate) diagnostics: Vec<BundleDiagnostic>,
    /// What the next dry run says.
    pub(crate) check: (bool, Vec<BundleDiagnostic>),
    /// Changes that were asked for, as JSON; whether it was a dry run.
    pub(crate) changes: Vec<(String, bool)>,
    pub(crate) refuse: Option<Refusal>,
    /// The board that maps are drawn on.
    pub(crate) map: Option<BoardId>,
    pub(crate) asked: Vec<WorkbenchRequest>,
}

pub(crate) fn finding(severity: ProblemSeverity, id: &str, path: &str, message: &str) -> BundleDiagnostic {
    BundleDiagnostic {
        severity,
        message: message.into(),
        bundle: "parcel".into(),
        entity_type: Some("Requirement".into()),
        entity_id: Some(id.into()),
        file: Some(format!("bundle/requirements/{id}.yaml")),
        path: Some(path.into()),
        source: Some("schema".into()),
        code: Some("minLength".into()),
    }
}

impl Default for Parcels {
    fn default() -> Self {
        let entity = |kind: &str, id: &str, title: &str, data: &str| {
            (reference(kind, id), title.to_owned(), data.to_owned())
        };
        Self {
            generation: 1,
            entities: vec![
                entity(
                    "Feature",
                    "FEAT-pickup",
                    "Parcel pickup",
                    r#"{"id":"FEAT-pickup","title":"Parcel pickup","description":"A recipient opens a cell with a **code**.","state":"accepted","tags":["recipient","core"],"governedByAdrIds":["ADR-0001"]}"#,
                ),
                entity(
                    "Feature",
                    "FEAT-returns",
                    "Returns",
                    r#"{"id":"FEAT-returns","title":"Returns","state":"draft"}"#,
                ),
                entity(
                    "Requirement",
                    "REQ-pickup-001",
                    "Open the cell with a code",
                    r#"{"id":"REQ-pickup-001","title":"Open the cell with a code","statement":"The locker **shall** open the cell when the recipient enters the code.\n\n- within two seconds\n- at any hour\n\nSee also the note on `uplink` below.","kind":"functional","category":"FR","priority":"high","state":"accepted","acceptanceCriteria":["The right code opens the door","A wrong code opens nothing","Three wrong codes lock the cell for ten minutes"],"qualityAttributes":{"atomic":true,"verifiable":false},"latencyMs":2000,"realizesFeatureIds":["FEAT-pickup","FEAT-gone"],"ownerId":"ACT-courier","createdDate":"2025-01-11","lastModifiedDate":"2025-05-02T08:30:00Z"}"#,
                ),
                entity(
                    "Requirement",
                    "REQ-pickup-002",
                    "Lock after three wrong codes",
                    r#"{"id":"REQ-pickup-002","title":"Lock after three wrong codes","kind":"non_functional","state":"proposed","parentId":"REQ-pickup-001"}"#,
                ),
                entity(
                    "ADR",
                    "ADR-0001",
                    "Use one-time codes instead of physical keys",
                    r#"{"id":"ADR-0001","title":"Use one-time codes instead of physical keys","status":"accepted","problem":"Keys get lost.\n\nReplacing them is **expensive**.","context":"Lockers have a keypad and a mobile uplink.","decision":"Recipients get a six-digit code by message.","alternatives":[{"name":"One-time code","isChosen":true,"pros":["cheap","quick"],"cons":["needs uplink"]},{"name":"Physical key","isChosen":false,"pros":["works offline"],"cons":["lost keys"]}],"decidedDate":"2025-02-03"}"#,
                ),
                entity(
                    "Profile",
                    "PROF-BASIC",
                    "Basic locker",
                    r#"{"id":"PROF-BASIC","title":"Basic locker","description":"Minimum a locker must offer.","requiresFeatures":["FEAT-pickup"],"conformanceRules":[{"id":"RULE-01","description":"A recipient can open the cell that holds the parcel","severity":"critical","linkedRequirement":"REQ-pickup-001"},{"id":"RULE-02","description":"Door closes within a minute","severity":"low"}]}"#,
                ),
                entity(
                    "Actor",
                    "ACT-courier",
                    "Courier",
                    r#"{"id":"ACT-courier","name":"Courier","kind":"human"}"#,
                ),
            ],
            diagnostics: vec![
                finding(
                    ProblemSeverity::Error,
                    "REQ-pickup-001",
                    "realizesFeatureIds",
                    "FEAT-gone does not exist",
                ),
                finding(ProblemSeverity::Warning, "REQ-pickup-002", "", "No task fulfils it"),
            ],
            check: (true, Vec::new()),
            changes: Vec::new(),
            refuse: None,
            map: None,
            asked: Vec::new(),
        }
    }
}

impl Parcels {
    pub(crate) fn view(&self) -> BundlesView {
        let count = |kind: &str| {
            self.entities.iter().filter(|(entity, ..)| entity.entity_type == kind).count() as u64
        };
        let kind = |name: &str, title: &str, category: &str| EntityTypeView {
            name: name.into(),
            title: title.into(),
            category: Some(category.into()),
            count: count(name),
        };
        BundlesView {
            bundles: vec![BundleView {
                id: "parcel".into(),
                title: "Parcel lockers".into(),
                folder: "specs/parcel".into(),
                generation: self.generation,
                types: vec![
                    kind("Feature", "Features", "product"),
                    kind("Requirement", "Requirements", "product"),
                    kind("ADR", "Decisions", "governance"),
                    kind("Profile", "Profiles", "governance"),
                    kind("Actor", "Actors", "product"),
                    kind("Task", "Tasks", "delivery"),
                ],
                errors: self.diagnostics.iter().filter(|each| each.severity == ProblemSeverity::Error).count()
                    as u64,
                warnings: self
                    .diagnostics
                    .iter()
                    .filter(|each| each.severity == ProblemSeverity::Warning)
                    .count() as u64,
                has_knowledge: true,
            }],
            failed: Vec::new(),
        }
    }

    fn title(&self, id: &str) -> Option<String> {
        self.entities.iter().find(|(entity, ..)| entity.id == id).map(|(_, title, _)| title.clone())
    }

    fn summary(&self, (entity, title, _): &(EntityRef, String, String)) -> EntitySummary {
        let count = |severity| {
            let about = |each: &&BundleDiagnostic| {
                each.entity_id.as_ref() == Some(&entity.id) && each.severity == severity
            };
            self.diagnostics.iter().filter(about).count() as u32
        };
        EntitySummary {
            entity: entity.clone(),
            title: title.clone(),
            status: None,
            errors: count(ProblemSeverity::Error),
            warnings: count(ProblemSeverity::Warning),
        }
    }

    fn entity(&self, wanted: &EntityRef) -> Result<EntityView, Refusal> {
        let found = self.entities.iter().find(|(entity, ..)| entity == wanted);
        let (entity, title, data) = found.ok_or_else(|| {
            Refusal::new(RefusalCode::NotFound, format!("there is no {} any more", wanted.id))
        })?;
        let mentions = |data: &str, id: &str| data.contains(&format!("\"{id}\""));
        let related = |field: &str, entity: EntityRef| RelationView {
            field: field.into(),
            title: self.title(&entity.id),
            entity,
        };
        let mut outgoing: Vec<RelationView> = self
            .entities
            .iter()
            .filter(|(other, ..)| other != entity && mentions(data, &other.id))
            .map(|(other, ..)| related("refers", other.clone()))
            .collect();
        if data.contains("FEAT-gone") {
            outgoing.push(related("realizesFeatureIds", reference("Feature", "FEAT-gone")));
        }
        let incoming = self
            .entities
            .iter()
            .filter(|(other, _, data)| other != entity && mentions(data, &entity.id))
            .map(|(other, ..)| related("refersToIds", other.clone()))
            .collect();
        Ok(EntityView {
            entity: entity.clone(),
            title: title.clone(),
            file: format!("bundle/{}s/{}.yaml", entity.entity_type.to_lowercase(), entity.id),
            data: data.clone(),
            schema: schema_of(&entity.entity_type),
            outgoing,
            incoming,
            diagnostics: self
                .diagnostics
                .iter()
                .filter(|each| each.entity_id.as_ref() == Some(&entity.id))
                .cloned()
                .collect(),
        })
    }

    /// Answers a request about bundles; none for another.
    fn answer(&mut self, request: &WorkbenchRequest) -> Option<Response> {
        use WorkbenchRequest as R;
        Some(match request {
            R::ListEntities(_) => {
                response(Ok(self.entities.iter().map(|each| self.summary(each)).collect::<Vec<_>>()))
            }
            R::ShowEntity(ShowEntity { entity }) => response(self.entity(entity)),
            R::ReadSchema(ReadSchema { entity_type, .. }) => response(Ok(schema_of(entity_type))),
            R::SearchEntities(SearchEntities { query, .. }) => {
                let fits = |title: &String| title.to_lowercase().contains(&query.to_lowercase());
                let found = self.entities.iter().filter(|(_, title, _)| fits(title));
                response(Ok(found.map(|each| self.summary(each)).collect::<Vec<_>>()))
            }
            R::ListDiagnostics(_) => response(Ok(&self.diagnostics)),
            R::MeasureCoverage(_) => response(Ok(vec![
                coverage("Requirement", "Feature", "realizesFeatureIds", (1, 2), &["FEAT-returns"]),
                coverage("Requirement", "Actor", "ownerId", (1, 1), &[]),
                coverage("Feature", "ADR", "governedByAdrIds", (1, 1), &[]),
                coverage(
                    "Task",
                    "Requirement",
                    "fulfillsRequirementIds",
                    (0, 2),
                    &["REQ-pickup-001", "REQ-pickup-002"],
                ),
            ])),
            R::ReadKnowledge(_) => response(Ok(KNOWLEDGE)),
            R::CheckBundle(CheckBundle { changes, .. }) => {
                self.changes.push((changes.clone(), true));
                let (possible, diagnostics) = self.check.clone();
                response(Ok(CheckedBundle { possible, diagnostics, files: Vec::new() }))
            }
            R::ChangeBundle(ChangeBundle { changes, .. }) => {
                self.changes.push((changes.clone(), false));
                let applied =
                    AppliedCommand { revision: Revision(9), summary: "changes".into(), created: Vec::new() };
                response(self.refuse.take().map_or(Ok(applied), Err))
            }
            R::DrawMap(_) => {
                let board = self.map.ok_or_else(|| Refusal::new(RefusalCode::BadRequest, "not here"));
                response(board.map(|board| DrawnMap { board, revision: Revision(1) }))
            }
            _ => return None,
        })
    }
}

fn coverage(
    from: &str,
    to: &str,
    field: &str,
    (covered, total): (u64, u64),
    uncovered: &[&str],
) -> RelationCoverageView {
    RelationCoverageView {
        relation: format!("{from}->{to}:{field}"),
        from: from.into(),
        to: to.into(),
        covered,
        total,
        uncovered: uncovered.iter().map(|id| (*id).to_owned()).collect(),
    }
}

/// A window with the bundle in it.
pub(crate) struct Locker {
    pub(crate) shop: Shop,
    pub(crate) parcels: Parcels,
}

impl Locker {
    pub(crate) fn open() -> Self {
        Self::open_as((1440.0, 900.0), egui::Theme::Light)
    }

    pub(crate) fn open_as(size: (f32, f32), theme: egui::Theme) -> Self {
        Self::of(Parcels::default(), size, theme)
    }

    /// With more on the boards.
    pub(crate) fn prepared(prepare: impl FnOnce(&mut Main)) -> Self {
        let shop = Shop::open_as((1440.0, 900.0), egui::Theme::Light, prepare);
        let mut locker = Self { shop, parcels: Parcels::default() };
        locker.tell();
        locker
    }

    pub(crate) fn of(parcels: Parcels, size: (f32, f32), theme: egui::Theme) -> Self {
        let shop = Shop::open_as(size, theme, |_| {});
        let mut locker = Self { shop, parcels };
        locker.tell();
        locker
    }

    /// The bundle is another now.
    pub(crate) fn tell(&mut self) {
        self.shop.main.send(ToRenderer::Bundles(Box::new(self.parcels.view())));
        self.settle();
    }

    /// Lets time pass and everything be answered. Gives back what was asked of other matters.
    pub(crate) fn settle(&mut self) -> Vec<WorkbenchRequest> {
        let mut rest = Vec::new();
        loop {
            self.shop.window.run_steps(3);
            let Self { shop, parcels } = self;
            let mut about_bundles = Vec::new();
            let served = shop.main.serve_with(&mut |request| {
                let answer = parcels.answer(request)?;
                parcels.asked.push(request.clone());
                about_bundles.push(request.clone());
                Some(answer)
            });
            if served.is_empty() && !shop.main.is_busy() {
                self.shop.window.run();
                return rest;
            }
            rest.extend(served.into_iter().filter(|request| !about_bundles.contains(request)));
        }
    }

    pub(crate) fn click(&mut self, name: &str) {
        use egui_kittest::kittest::Queryable;
        self.shop.window.get_by_label(name).scroll_to_me();
        self.shop.window.run();
        self.shop.window.get_by_label(name).click();
        self.settle();
    }

    pub(crate) fn shows(&self, text: &str) -> bool {
        self.shop.shows(text)
    }

    pub(crate) fn picture(&mut self, name: &str) {
        self.shop.picture(name);
    }
}
