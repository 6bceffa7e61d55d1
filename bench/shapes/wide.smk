rule all:
    input: expand('out/{i}', i=range(COUNT))

rule w:
    output: 'out/{i}'
    shell: 'echo {wildcards.i} > {output}'
