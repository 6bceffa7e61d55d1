import os
rule all:
    input: 'out/all'

checkpoint split:
    input: 'pieces.txt'
    output: directory('s')
    shell: 'mkdir -p s; ' + r"""awk '{{ f = "s/" $1; print > f; close(f) }}' {input}"""

rule piece:
    input: 's/{i}'
    output: 'out/p/{i}'
    shell: 'cat {input} > {output}'

def pieces(wildcards):
    folder = checkpoints.split.get().output[0]
    return expand('out/p/{i}', i=sorted(glob_wildcards(os.path.join(folder, '{i}')).i))

rule gather:
    input: pieces
    output: 'out/all'
    shell: 'cat {input} > {output}'
