package questions

// Sections of ACL's list.
const (
	aclEvery   = "A. Every submission"
	aclAssets  = "B. Scientific artifacts that were used or made"
	aclCompute = "C. Computational experiments"
	aclPeople  = "D. Annotators and other people who took part"
	aclWriting = "E. Assistance by AI in research, coding or writing"
)

var acl = List{Name: "acl", Title: "ACL: Responsible NLP research checklist", Source: "https://aclrollingreview.org/responsibleNLPresearch/", Questions: []Question{
	{"A1", aclEvery, "Limitations of the work", nil, ""},
	{"A2", aclEvery, "Potential risks of the work", nil, ""},
	{"B1", aclAssets, "Creators of artifacts are cited", []Topic{Data}, "the sections that cite them"},
	{"B2", aclAssets, "Licences and terms of artifacts", []Topic{Code, Data}, ""},
	{"B3", aclAssets, "Use agrees with what artifacts are intended for", nil, ""},
	{"B4", aclAssets, "Personal or offensive content in the data", nil, ""},
	{"B5", aclAssets, "Documentation of artifacts: domains, languages, groups", []Topic{Data}, "what the data does not cover: groups, domains"},
	{"B6", aclAssets, "Statistics of the data: examples, splits", []Topic{Sizes}, ""},
	{"C1", aclCompute, "Parameters of models, computational budget, infrastructure", []Topic{Models, Compute, Machines}, ""},
	{"C2", aclCompute, "Experimental setup: search of hyperparameters, best values", []Topic{Settings}, ""},
	{"C3", aclCompute, "Descriptive statistics: error bars, means or single runs", []Topic{Runs}, ""},
	{"C4", aclCompute, "Packages with their settings", []Topic{Code, Machines, Parameters}, ""},
	{"D1", aclPeople, "Full text of instructions", nil, ""},
	{"D2", aclPeople, "Recruitment and payment", nil, ""},
	{"D3", aclPeople, "Consent to the use of the data", nil, ""},
	{"D4", aclPeople, "Approval by an ethics board", nil, ""},
	{"D5", aclPeople, "Demographics of annotators", nil, ""},
	{"E1", aclWriting, "Use of AI assistants", nil, ""},
}}

var neurips = List{Name: "neurips", Title: "NeurIPS: paper checklist", Source: "https://neurips.cc/public/guides/PaperChecklist", Questions: []Question{
	{"1", "", "Claims: abstract and introduction agree with the contributions", []Topic{Expected}, "whether abstract and introduction claim no more than that"},
	{"2", "", "Limitations", nil, ""},
	{"3", "", "Theory: assumptions and proofs", nil, ""},
	{"4", "", "Reproducibility of the experiments' results", []Topic{Commands, Code, Expected}, ""},
	{"5", "", "Open access to data and code", []Topic{Code, Data, Available}, ""},
	{"6", "", "Setting of the experiments: splits, hyperparameters, how they were chosen", []Topic{Sizes, Settings, Parameters}, ""},
	{"7", "", "Statistical significance: error bars and what they are of", []Topic{Runs}, ""},
	{"8", "", "Compute: workers, memory, time of each experiment and of all", []Topic{Machines, Compute, Commands}, ""},
	{"9", "", "Code of ethics", nil, ""},
	{"10", "", "Broader impacts", nil, ""},
	{"11", "", "Safeguards of what is released", nil, ""},
	{"12", "", "Licences of existing assets", []Topic{Data}, ""},
	{"13", "", "New assets and their documentation", []Topic{Available}, "where what is released is documented"},
	{"14", "", "Crowdsourcing and research with people", nil, ""},
	{"15", "", "Approval by a review board", nil, ""},
	{"16", "", "Use of language models as a component of the method", nil, ""},
}}

// Sections of ACM's list: the badges of Artifact Review and Badging 1.1, and the headings
// of the artifact appendix that its venues ask for.
const (
	acmBadges   = "Badges (Artifact Review and Badging 1.1)"
	acmMeta     = "A.2 Artifact check-list (meta-information)"
	acmAppendix = "Artifact appendix"
)

var acm = List{Name: "acm", Title: "ACM: artifact review and badging, artifact appendix", Source: "https://www.acm.org/publications/policies/artifact-review-and-badging-current", Questions: []Question{
	{"available", acmBadges, "Artifacts Available: in an archive with an identifier", []Topic{Available}, ""},
	{"functional", acmBadges, "Artifacts Evaluated – Functional: documented, consistent, complete, exercisable", []Topic{Code, Commands}, "where it is documented"},
	{"reusable", acmBadges, "Artifacts Evaluated – Reusable", nil, ""},
	{"reproduced", acmBadges, "Results Reproduced: by others, with the artifacts", []Topic{Expected}, "who else obtained them"},
	{"replicated", acmBadges, "Results Replicated: by others, without them", nil, ""},
	{"A.1", acmAppendix, "Abstract", []Topic{Citation}, ""},
	{"A.2.algorithm", acmMeta, "Algorithm", nil, ""},
	{"A.2.program", acmMeta, "Program", []Topic{Code}, ""},
	{"A.2.model", acmMeta, "Model", []Topic{Models}, ""},
	{"A.2.data", acmMeta, "Data set", []Topic{Data, Sizes}, ""},
	{"A.2.environment", acmMeta, "Run-time environment", []Topic{Code}, ""},
	{"A.2.hardware", acmMeta, "Hardware", []Topic{Machines}, ""},
	{"A.2.execution", acmMeta, "Execution", []Topic{Commands}, ""},
	{"A.2.metrics", acmMeta, "Metrics and output", []Topic{Expected}, ""},
	{"A.2.experiments", acmMeta, "Experiments", []Topic{Runs, Parameters}, ""},
	{"A.2.disk", acmMeta, "How much disk space", []Topic{Disk}, ""},
	{"A.2.prepare", acmMeta, "How much time to prepare the workflow", nil, ""},
	{"A.2.time", acmMeta, "How much time to complete the experiments", []Topic{Compute}, ""},
	{"A.2.public", acmMeta, "Publicly available", []Topic{Available}, ""},
	{"A.2.licences", acmMeta, "Licences of code and data", []Topic{Data}, ""},
	{"A.2.framework", acmMeta, "Workflow framework", []Topic{Code}, ""},
	{"A.2.archived", acmMeta, "Archived, with a DOI", nil, ""},
	{"A.3.1", acmAppendix, "How to access", []Topic{Available}, ""},
	{"A.3.2", acmAppendix, "Hardware dependencies", []Topic{Machines, Compute}, ""},
	{"A.3.3", acmAppendix, "Software dependencies", []Topic{Code}, ""},
	{"A.3.4", acmAppendix, "Data sets", []Topic{Data}, ""},
	{"A.3.5", acmAppendix, "Models", []Topic{Models}, ""},
	{"A.4", acmAppendix, "Installation", nil, ""},
	{"A.5", acmAppendix, "Experiment workflow", []Topic{Commands}, ""},
	{"A.6", acmAppendix, "Evaluation and expected results", []Topic{Expected}, ""},
	{"A.7", acmAppendix, "Experiment customization", []Topic{Parameters, Settings}, ""},
	{"A.8", acmAppendix, "Notes", nil, ""},
	{"A.9", acmAppendix, "Methodology", nil, ""},
}}
