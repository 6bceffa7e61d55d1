rule all:
    input: expand('out/{i}', i=range(COUNT - 1))

rule make:
    output: 'out/made', directory('t')
    shell: 'mkdir -p t; for i in $(seq 40); do (echo $i; head -c 2000000 /dev/zero) > t/$i; done; touch out/made'

rule read:
    wildcard_constraints: i='[0-9]+'
    input: 'out/made', 't'
    output: 'out/{i}'
    shell: 'cat t/* | wc -c > {output}; echo {wildcards.i} >> {output}'
