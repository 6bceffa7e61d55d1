package types

type (
	CommonPrefix struct{ Prefix *string }
	Object       struct{ Key *string }
	NoSuchBucket struct{ error }
	NoSuchKey    struct{ error }
)
