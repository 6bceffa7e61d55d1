package crate

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
)

// Close adds the workflow, its runs, the files and the archive itself, and ends the crate.
func (c *Writer) Close() error {
	about := c.about
	c.add(entity{{"@id", home}, {"@type", "SoftwareApplication"}, {"name", "redsi"}, {"url", home}}.with("softwareVersion", about.Revision))
	c.add(entity{{"@id", "#language"}, {"@type", "ComputerLanguage"}, {"name", about.Language}, {"url", "https://github.com/hashicorp/hcl"}})
	inputs, values := c.variables()
	workflow := fileID(about.Workflow)
	c.runActions(workflow, values)
	files := c.files(workflow, inputs)
	var authors []string
	for i, a := range about.Authors {
		id := "#author-" + strconv.Itoa(i+1)
		if a.ORCID != "" {
			id = "https://orcid.org/" + a.ORCID
		}
		authors = append(authors, id)
		e := entity{{"@id", id}, {"@type", "Person"}, {"name", a.Name}}
		if a.Affiliation != "" {
			of := fragment("affiliation", a.Affiliation)
			if c.once(of) {
				c.add(entity{{"@id", of}, {"@type", "Organization"}, {"name", a.Affiliation}})
			}
			e = e.with("affiliation", ref(of))
		}
		c.add(e)
	}
	slices.Sort(c.parts)
	c.add(entity{{"@id", about.Store}, {"@type", "Dataset"}, {"name", "store"},
		{"description", "Blobs by their SHA-256 and records of results by the keys of their work, in the layout of a redsi store."}}.
		with("hasPart", refs(slices.Compact(c.parts))))
	profiles := []string{processRun, workflowRun, provenanceRun, workflowCrate}
	for i, p := range []struct{ name, version string }{{"Process Run Crate", "0.5"}, {"Workflow Run Crate", "0.5"}, {"Provenance Run Crate", "0.5"}, {"Workflow RO-Crate", "1.0"}} {
		c.add(entity{{"@id", profiles[i]}, {"@type", "CreativeWork"}, {"name", p.name}, {"version", p.version}})
	}
	license := c.license(about.License)
	if license == nil && about.LicenseFile != "" {
		license = ref(fileID(about.LicenseFile))
	}
	paper := about.URL
	if about.Paper != "" {
		paper = "https://doi.org/" + fileID(about.Paper)
	}
	var cites entity
	if paper != "" {
		c.add(entity{{"@id", paper}, {"@type", "ScholarlyArticle"}, {"name", about.Title}}.with("author", refs(authors)))
		cites = ref(paper)
	}
	c.add(entity{{"@id", "./"}, {"@type", "Dataset"}, {"conformsTo", refs(profiles)}, {"name", about.Title}, {"description", about.Abstract},
		{"datePublished", about.Released.UTC().Format("2006-01-02")}}.
		with("license", license).with("author", refs(authors)).with("keywords", about.Keywords).with("version", about.Version).with("citation", cites).
		with("mainEntity", ref(workflow)).with("hasPart", refs(append(files, about.Store))).with("mentions", refs(c.mention)))
	c.out.WriteString("\n]}\n")
	return cmp.Or(c.err, c.out.Flush())
}

func (c *Writer) variables() (parameters, values []string) {
	for _, name := range slices.Sorted(maps.Keys(c.about.Variables)) {
		v := c.about.Variables[name]
		parameter, value := fragment("variable", name), fragment("variable-value", name)
		parameters, values = append(parameters, parameter), append(values, value)
		typ := "Text"
		if _, text := plainValue(v).(string); string(v) == "true" || string(v) == "false" {
			typ = "Boolean"
		} else if !text {
			typ = "Number"
		}
		c.add(entity{{"@id", parameter}, {"@type", "FormalParameter"}, {"additionalType", typ}, {"name", name}, {"workExample", ref(value)}})
		c.add(entity{{"@id", value}, {"@type", "PropertyValue"}, {"name", name}, {"value", plainValue(v)}, {"exampleOfWork", ref(parameter)}})
	}
	return parameters, values
}

// runActions describes each run that left results: the run of the workflow, and what orchestrated it.
func (c *Writer) runActions(workflow string, values []string) {
	for _, r := range c.runs {
		name := "run " + r.id
		if r.id == "" {
			name = "runs that are not recorded"
		}
		id := fragment("run", r.id)
		of := fragment("organize", r.id)
		slices.Sort(r.results)
		says := "What " + name + " left of this archive; it began when the first of those results did, and ended with the last."
		c.add(entity{{"@id", id}, {"@type", "CreateAction"}, {"name", name}, {"description", says}, {"instrument", ref(workflow)},
			{"startTime", stamp(r.began)}, {"endTime", stamp(r.end)}, {"actionStatus", completed}}.
			with("object", refs(values)).with("result", refs(slices.Compact(r.results))))
		c.add(entity{{"@id", of}, {"@type", "OrganizeAction"}, {"name", "orchestrate " + name}, {"instrument", ref(home)}, {"object", refs(r.controls)},
			{"result", ref(id)}, {"startTime", stamp(r.began)}, {"endTime", stamp(r.end)}, {"actionStatus", completed}})
		c.mention = append(c.mention, id, of)
	}
}

func (c *Writer) files(workflow string, inputs []string) (ids []string) {
	main := File{Path: c.about.Workflow, Name: c.about.Title}
	for _, f := range c.about.Files {
		if ids = append(ids, fileID(f.Path)); f.Path == main.Path {
			main.Digest, main.Size = f.Digest, f.Size
		} else {
			c.add(c.fileEntity(f, "File"))
		}
	}
	if !slices.Contains(ids, workflow) {
		ids = append(ids, workflow)
	}
	c.add(entity{{"@id", workflowSchema}, {"@type", "CreativeWork"}, {"name", "ComputationalWorkflow"}, {"version", "1.0-RELEASE"}})
	version := c.about.Version
	if version == "" && !main.Digest.IsZero() {
		version = main.Digest.String()
	}
	c.add(c.fileEntity(main, []string{"File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"}).
		with("conformsTo", ref(workflowSchema)).with("programmingLanguage", ref("#language")).with("version", version).
		with("input", refs(inputs)).with("hasPart", refs(c.tools)).with("step", refs(c.steps)))
	return ids
}

func (c *Writer) fileEntity(f File, typ any) entity {
	e := entity{{"@id", fileID(f.Path)}, {"@type", typ}}.with("name", f.Name).with("description", f.Description)
	if !f.Digest.IsZero() {
		e = append(e, field{"sha256", f.Digest.Hex()}, field{"contentSize", strconv.FormatInt(f.Size, 10)})
	}
	e = e.with("encodingFormat", format(f.Path))
	if f.Path == "README.md" {
		e = append(e, field{"about", ref("./")})
	}
	return e
}
