rule all:
    input: 'out/end'

rule make:
    output: 'out/make'
    shell: 'head -c 1000000000 /dev/zero > {output}'

rule count:
    input: 'out/make'
    output: 'out/count'
    shell: 'wc -c < {input} > {output}'

rule end:
    input: n='out/count', x='out/make'
    output: 'out/end'
    shell: 'cat {input.n}; tail -c 1 {input.x} > {output}'
