# Splits posts into those to train on and those to test on, by their number.
BEGIN { FS = "\t" }
{ print > (($1 * 97 + seed) % 100 < 100 * split_at ? "out/test.tsv" : "out/train.tsv") }
