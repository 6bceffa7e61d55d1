package synth

// Syllables are one consonant and one vowel, so that a word has one spelling.
const (
	consonants = "bdfgklmnprstvz"
	vowels     = "aeiou"
	syllables  = len(consonants) * len(vowels) // 70
)

// keyword returns an invented word of three syllables, distinct for i below 70^3, ending in a vowel; neighbours look unlike.
func keyword(seed uint64, i int) string {
	const space = syllables * syllables * syllables // 343,000
	const stride = 120_121                          // has no factor in common with 343,000 = 2^3 5^3 7^3
	i0 := i
	i = (i*stride + int(mix(seed, forNames)%uint64(space))) % space
	w := make([]byte, 0, 8)
	for range 3 {
		s := i % syllables
		w = append(w, consonants[s/len(vowels)], vowels[s%len(vowels)])
		i /= syllables
	}
	if i0 >= space {
		w = append(w, 'x') // the next 343,000 words
	}
	w[0] -= 'a' - 'A'
	return string(w)
}

// name returns an invented word that ends in a consonant, so it is never a keyword.
func name(r *rng) string {
	w := make([]byte, 0, 8)
	for range 2 + r.Below(2) {
		w = append(w, consonants[r.Below(len(consonants))], vowels[r.Below(len(vowels))])
	}
	w = append(w, "nrlst"[r.Below(5)])
	w[0] -= 'a' - 'A'
	return string(w)
}
