/** The classes of highlighted code, written as `class:text` between bars; other text has no class. */
const code = (language: string, name: string, source: string, classes: string): [string, string] => [
  `\`\`\`${language}\n${source}\n\`\`\``,
  `<div class="codehilite"${name === '' ? '' : ` data-code-language="${name}"`}><pre><span></span><code>${spans(classes)}\n</code></pre></div>`,
];

const spans = (classes: string): string =>
  classes
    .split('¦')
    .map((part) => part.replace(/^([a-z]{1,2}\d?):(.+)$/s, '<span class="$1">$2</span>'))
    .join('');

export const highlightCases: [string, string][] = [
  code('python', 'Python', 'import os.path', 'kn:import¦ ¦n:os¦o:.¦n:path'),
  code('python', 'Python', 'total += cost[2] * 0.5', 'n:total¦ ¦o:+=¦ ¦n:cost¦p:[¦mi:2¦p:]¦ ¦o:*¦ ¦mf:0.5'),
  code('python', 'Python', 'a not in b', 'n:a¦ ¦ow:not¦ ¦ow:in¦ ¦n:b'),
  code(
    'python',
    'Python',
    '@cached\ndef size(self, unit=0xff):',
    'nd:@cached¦\n¦k:def¦ ¦nf:size¦p:(¦bp:self¦p:,¦ ¦n:unit¦o:=¦mh:0xff¦p:):',
  ),
  code('python', 'Python', `a = "x" + 'y'  # z`, `n:a¦ ¦o:=¦ ¦s2:&quot;x&quot;¦ ¦o:+¦ ¦s1:'y'¦  ¦c1:# z`),
  code('python', 'Python', 'def constructor(): valueOf', 'k:def¦ ¦nf:constructor¦p:():¦ ¦n:valueOf'),
  code('python2', 'Python 2.x', 'x', 'n:x'),
  code('js', 'JavaScript', "log('a', b)", "nf:log¦p:(¦s1:'a'¦p:,¦ ¦n:b¦p:)"),
  code('js', 'JavaScript', '/* a */ b', 'cm:/* a */¦ ¦n:b'),
  code('rb', 'Ruby', 'a = "b#{c}d"', 'n:a¦ ¦o:=¦ ¦s2:&quot;b¦si:#{c}¦s2:d&quot;'),
  code('sh', 'Bash', 'echo "a $B c" d', 'nb:echo¦ ¦s2:&quot;a ¦nv:$B¦s2: c&quot;¦ d'),
  code('c', 'C', `char c = 'a';`, `kt:char¦ ¦n:c¦ ¦o:=¦ ¦sc:'a'¦p:;`),
  code('c', 'C', 'char *c = "a";', 'kt:char¦ ¦o:*¦n:c¦ ¦o:=¦ ¦s:&quot;a&quot;¦p:;'),
  code('sql', 'SQL', 'SELECT a FROM t;', 'k:SELECT¦ ¦n:a¦ ¦k:FROM¦ ¦n:t¦p:;'),
  code('php', 'PHP', 'f($a, "b");', 'nf:f¦p:(¦nv:$a¦p:,¦ ¦s2:&quot;b&quot;¦p:);'),
  code('css+php', 'CSS+PHP', '$a = 1;', 'nv:$a¦ ¦o:=¦ ¦mi:1¦p:;'),
  code('js+php', 'JavaScript+PHP', '$a', 'nv:$a'),
  code('tex', 'TeX', '\\frac{a}{b}_2', 'k:\\frac¦nb:{¦a¦nb:}{¦b¦nb:}_¦2'),
  code('md', 'Markdown', 'a, b; (c)', 'a, b; (c)'),
  code('text', 'Text only', 'a = b;', 'a = b;'),
  code('', '', '#!ruby\nx', 'ch:#!ruby¦\n¦n:x'),
  code('', '', '#!/usr/bin/env perl\nmy $a', 'ch:#!/usr/bin/env perl¦\n¦k:my¦ ¦nv:$a'),
  code('', '', ':::js\nlet a', 'p::::¦n:js¦\n¦k:let¦ ¦n:a'),
  code('', '', '#!/opt/no-such-language\nx', '#!/opt/no-such-language\nx'),
  code('', '', ':js\nlet a', ':js\nlet a'),
  code('', '', 'let a\n#!js', 'let a\n#!js'),
  ['    #!python\n    x = 1', `<div class="codehilite"><pre><span></span><code>#!python\nx = 1\n</code></pre></div>`],
];
