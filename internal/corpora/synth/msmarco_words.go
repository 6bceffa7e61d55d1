package synth

import "strings"

// The vocabulary of the made-up bodies.
var (
	adjectives = strings.Fields(`ancient annual bright broad calm central classic cold common complex crowded
		curious deep distant early eastern elegant famous fertile formal former gentle global grand green
		hidden historic hollow inner late little local lonely lower major minor modern narrow northern old
		open outer popular private proud public quiet rapid rare regional remote royal rural sacred severe
		short silent simple small southern steep strong sudden tall upper vast warm western wide wild young`)
	nouns = strings.Fields(`archive arena award bakery balance bank barrel basin beacon bell border branch bridge
		bronze canal canyon captain carpet castle census chapel choir circle climate cloth coast coin colony
		column comet copper council crew crystal current custom dance debate desert dialect diary dock drama
		drum eagle echo empire engine estate exhibit fabric factory failure falcon farm fever fiber field
		flag fleet flood flute forest fort fossil fountain frontier gallery garden gate glacier glass grain
		granite guild harbor harvest helmet herb horizon hotel insect iron island ivory journal journey
		kingdom ladder lake lantern law league legend letter library lighthouse linen lodge machine manuscript
		map marble market marsh meadow medal melody merchant meteor mill mineral mirror monastery monument
		mosaic motor mountain museum myth needle novel oak observatory ocean opera orchard orchestra organ
		paint palace paper parade parish path pattern peak pearl peninsula pepper pilot pipe planet plateau
		poem pollen port pottery prairie prince prison prize puzzle quarry queen railway ranch reef regiment
		ritual river road robot rocket ruin sail salt sculpture seed senate shadow shell shepherd shield
		shrine signal silk silver sketch song spice spring stable stadium statue station stone storm stove
		strait studio summit symbol tavern temple theater theory thread throne timber tobacco tower trade
		treaty tribe tunnel turbine valley vessel victory village vineyard violin volcano wagon wall water
		weaver wheat wheel whisper window winter wolf wool workshop yard`)
	verbs = strings.Fields(`accepted adopted approved arranged attracted awarded borrowed built carried changed
		claimed collected combined compared completed covered crossed damaged defended described designed
		discovered divided donated doubled drained enlarged entered examined exported extended financed
		followed founded gathered governed guarded helped improved influenced inspired joined launched
		limited linked measured moved named observed occupied offered opened ordered organized painted
		planned praised preserved printed produced protected published rebuilt received recorded reduced
		removed renewed repaired replaced restored sailed selected served settled shaped shared showed
		signed started studied supported surveyed taught tested traded translated visited won`)
)

// category is what a page is about, and the words that its text and its
// questions are made of.
type category struct {
	noun  string
	form  string // the noun as part of a title
	done  string // what a person did to it: "directed"
	field []string
}

var categories = []category{
	{"film", "Story", "directed", strings.Fields("camera scene actor script premiere studio audience soundtrack")},
	{"river", "River", "surveyed", strings.Fields("basin delta flood bank tributary source bridge ferry")},
	{"company", "Works", "founded", strings.Fields("factory product market owner share engine worker export")},
	{"novel", "Letters", "written", strings.Fields("chapter author reader plot edition publisher character preface")},
	{"castle", "Castle", "built", strings.Fields("tower gate wall siege garrison moat chapel prince")},
	{"moth", "Moth", "described", strings.Fields("wing larva host leaf antenna genus insect forest")},
	{"festival", "Festival", "organized", strings.Fields("stage parade ticket dance choir lantern visitor costume")},
	{"island", "Island", "discovered", strings.Fields("reef lagoon harbor cliff ferry bird beach lighthouse")},
	{"song", "Song", "recorded", strings.Fields("chorus melody guitar album chart verse singer drum")},
	{"museum", "Museum", "opened", strings.Fields("gallery statue exhibit painting archive curator visitor mosaic")},
	{"mineral", "Stone", "described", strings.Fields("crystal quarry hardness color vein copper sample deposit")},
	{"game", "Game", "designed", strings.Fields("player board level score puzzle rule team console")},
	{"bridge", "Bridge", "designed", strings.Fields("arch span cable river tower deck toll traffic")},
	{"ship", "Star", "launched", strings.Fields("crew captain deck cargo sail engine voyage port")},
}
