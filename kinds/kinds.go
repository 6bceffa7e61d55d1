package kinds

import (
	"slices"

	"github.com/redsi/redsi/kinds/general"
	"github.com/redsi/redsi/kinds/internal/collection"
	"github.com/redsi/redsi/kinds/internal/ids"
	"github.com/redsi/redsi/kinds/internal/model"
	"github.com/redsi/redsi/kinds/internal/ranking"
	"github.com/redsi/redsi/kinds/results"
	"github.com/redsi/redsi/step"
)

// All lists every step kind that this build knows, family by family.
func All() []step.Spec {
	return slices.Concat(
		family("Collections",
			collection.Extract,
			collection.Pages, collection.PagesAPI, collection.PageTable,
			collection.Dedup,
			collection.ImportCorpus, collection.Package,
			collection.Synth,
			collection.Serialize,
			collection.Export,
		),
		family("Collections examined",
			collection.Fields, collection.FormatExample, collection.Compare,
			collection.ComparePages,
			collection.Diagnose, collection.Variation,
			collection.Substitutions, collection.Prefixes, collection.Excerpts,
			collection.Overlap, collection.Shares,
			collection.ComparePackage,
		),
		family("Identifiers and vectors",
			ids.AtomicIDs, ids.NaiveIDs, ids.SemanticIDs, ids.ResidualIDs, ids.TitleIDs, ids.KeywordIDs, ids.ImportIDs, ids.Tokens,
			ids.Embed, ids.EmbedHashing, ids.ImportEmbeddings,
		),
		family("Models",
			model.ImportModel, model.RandomT5, model.ImportTrained,
			model.TrainQueries, model.GenerateQueries,
			model.Train, model.Evaluate, model.ExportModel,
		),
		family("Rankings",
			ranking.BM25, ranking.Dense, ranking.Fuse,
			ranking.ImportRun, ranking.ImportQrels, ranking.ExportRun,
			ranking.Score, ranking.Compare, ranking.Agree,
		),
		family("Results",
			results.Table, results.Figure, results.Claim,
			results.Best, results.BestModel, results.Effects,
		),
		family("Programs and files",
			general.Command, general.Python, general.Script,
			general.Source, general.Download,
		),
	)
}

// family sets the family's name in each of its kinds.
func family(name string, kinds ...step.Spec) []step.Spec {
	for i := range kinds {
		kinds[i].Family = name
	}
	return kinds
}

// Registry finds all kinds by name.
func Registry() *step.Registry { return step.NewRegistry(All()...) }
