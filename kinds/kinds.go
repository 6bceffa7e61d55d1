package kinds

import (
	"github.com/redsi/redsi/kinds/general"
	"github.com/redsi/redsi/kinds/internal/collection"
	"github.com/redsi/redsi/kinds/internal/ids"
	"github.com/redsi/redsi/kinds/internal/model"
	"github.com/redsi/redsi/kinds/internal/ranking"
	"github.com/redsi/redsi/kinds/results"
	"github.com/redsi/redsi/step"
)

// All lists every step kind that this build knows, in the order in which data
// flows through them.
func All() []step.Spec {
	return []step.Spec{
		general.Download, general.Source,
		collection.Synth,
		collection.Extract,
		collection.Pages,
		collection.PagesAPI, collection.PageTable, collection.ComparePages,
		collection.Dedup, collection.Diagnose,
		collection.ImportCorpus,
		collection.Serialize,
		collection.Substitutions, collection.Variation, collection.Prefixes,
		collection.Fields, collection.FormatExample, collection.Compare, collection.Excerpts,
		collection.Overlap,
		collection.Shares,
		collection.Export,
		collection.Package, collection.ComparePackage,
		ids.EmbedHashing, ids.Embed, ids.ImportEmbeddings,
		ids.AtomicIDs, ids.NaiveIDs, ids.SemanticIDs, ids.ResidualIDs, ids.TitleIDs, ids.KeywordIDs, ids.ImportIDs, ids.Tokens,
		model.RandomT5, model.ImportModel, model.ImportTrained, model.TrainQueries, model.GenerateQueries, model.Train, model.Evaluate, model.ExportModel,
		ranking.BM25, ranking.Dense, ranking.Fuse,
		ranking.ImportRun, ranking.ImportQrels, ranking.Score, ranking.Compare, ranking.Agree, ranking.ExportRun,
		results.Best, results.BestModel,
		results.Effects,
		general.Command, general.Python, general.Script,
		results.Table, results.Figure, results.Claim,
	}
}

// Registry finds them by name.
func Registry() *step.Registry { return step.NewRegistry(All()...) }
