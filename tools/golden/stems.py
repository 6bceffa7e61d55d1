"""Writes internal/ranking/bm25/testdata/stems.json.gz: words and the stems of Snowball 3.1, by redsi's names.

pip install -r stems_requirements.txt
python stems.py internal/ranking/bm25/testdata
"""
import gzip
import json
import os
import random
import re
import sys

import Stemmer
import wordfreq

# name: (PyStemmer's, language, what version 3 stems otherwise, endings)
STEMMERS = {
    "danish3": ("danish", "da", r"([chjqvwxzéü])\1|igst|løst", "hed ethed erede ende erne heden es endes hedens ets eret s igst løst elig els gd kt cc hh vv hhed zzes"),
    "dutch3": ("dutch", "nl", "^ge|.ge|ij|[äëïöü]|(je|ste?|heid|ingen|erij|end|iger?|en|es|de|te)$",
               "s ies ares eres es és aus heden nden den ien jen en nde etje rntje atje inkje mpje je ge lijke ische de te se re le ene ieve atie iteit heid "
               "sel ster rder ing isme erij ilding arij fie gie tst dst ioneel atief baar naar tant lijkst achtig erig end inniger ig kt gevalië ijge geïnd eën iël"),
    "finnish3": ("finnish", "fi", "h[aeiouäöø]n$|y[aä]|[øíé]", "kin kaan ko han pä sti ksi kseni nsa mme tään llaan llen ihin ohan uhun öhön øhön aaseen oisiin "
                 "aiden uitten een ien n lia ää etta ttä ssa lla lle ine pompi impa immä eja i j at imma ojo uj kk"),
    "french3": ("french", "fr", "(ais|aises?|oux|ment|i[ée]s?)$|^ni|[ëïç]|[aeo][uiy][aeo]", "ance iques atrice ateurs ation logie usion utions ence ement ivement eusement "
                "ièrement ité abilité icités if ives atifs eaux aux oux euse issement amment emment ments îmes issaient it ïi ions é èrent aient âmes eante asse "
                "ais aises eais mauvais palais ion ière e s ïs ès enne eill ès ë yer oyait"),
    "dutch_porter": ("dutch_porter", "nl", "(heden|heid|ing|lijk|baar|bar)$|^è|è", "heden en ene s se heid end ing ig lijk baar bar e"),
    "english3": ("english", "en", r"^(past|univers|later|emerg|organ|inter)|ogists?$|eed(ly)?$|(y|inn|out|err|ann|arr|even)ings?$|^[aeo](.)\2(ed|ing)",
                 "eed eedly ed edly ing ingly ies s tional ization ational fulness ousness iveness biliti ogist logi ogi fulli li ical ative ness ement ion ize e l"),
    "german3": ("german", "de", "in(nen)?$|ae|oe|ue|ets?$|lns?$|system", "em ern er erin erinnen e en es s ln lns est st et end ung ig ik isch lich heit keit nisse"),
    "italian3": ("italian", "it", "^divan", "ano ando i o e amente azione"),
    "norwegian3": ("norwegian", "nb", "ers$|[êòóô]|rs$", "ers hetens ede endes s ast erte ert dt leg eleg hetslov"),
    "russian3": ("russian", "ru", "ё", "ё ёт ённый ость ейше"),
    "spanish3": ("spanish", "es", "[au]cion$", "acion ucion icacion ación amente logía"),
    "swedish3": ("swedish", "sv", "ets?$|öst", "et ets itet heten arna s öst löst fullt andet dt els"),
}
WORD = re.compile(r"(?u)\b\w\w+\b")  # bm25s' tokens


def words(language, told, endings):
    r = random.Random(57)
    known = sorted({w for t in wordfreq.top_n_list(language, 60000) for w in WORD.findall(t.lower())})
    apart = [w for w in known if re.search(told, w)]
    out = r.sample(apart, min(220, len(apart))) + r.sample(known, 300)
    for _ in range(250):
        out.append(r.choice(known)[:r.randint(0, 7)] + "".join(r.choices(endings.split(), k=r.randint(1, 2))))
    return sorted({w for w in out if len(w) > 1})


golden = {}
for name, (stemmer, language, told, endings) in STEMMERS.items():
    ws = words(language, told, endings)
    golden[name] = dict(zip(ws, Stemmer.Stemmer(stemmer).stemWords(ws)))
with open(os.path.join(sys.argv[1], "stems.json.gz"), "wb") as f, gzip.GzipFile("", "wb", fileobj=f, mtime=0) as z:
    z.write(json.dumps(golden, ensure_ascii=True, separators=(",", ":")).encode())
