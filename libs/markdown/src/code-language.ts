/** Pygments' name of a language, then the names people type for it; the first one is highlight.js's. */
const LANGUAGES: Record<string, string> = {
  'Text only': 'plaintext text txt',
  Python: 'python py python3 py3 sage',
  'Python console session': 'python-repl pycon',
  JavaScript: 'javascript js jsx node',
  TypeScript: 'typescript ts tsx',
  Bash: 'bash sh ksh zsh shell',
  'Bash Session': 'shell-session console',
  C: 'c h',
  'C++': 'cpp c++ cc hpp',
  'C#': 'csharp c# cs',
  Java: 'java',
  Go: 'go golang',
  Rust: 'rust rs',
  Ruby: 'ruby rb',
  PHP: 'php php3 php4 php5',
  HTML: 'html htm xhtml',
  XML: 'xml xsl rss svg',
  CSS: 'css',
  SCSS: 'scss',
  LessCss: 'less',
  JSON: 'json',
  YAML: 'yaml yml',
  SQL: 'sql',
  Diff: 'diff udiff patch',
  Markdown: 'markdown md',
  Makefile: 'makefile make mf',
  Perl: 'perl pl',
  Lua: 'lua',
  Kotlin: 'kotlin kt',
  Swift: 'swift',
  S: 'r s splus',
  'Objective-C': 'objectivec objective-c objc obj-c',
  INI: 'ini cfg dosini',
  TOML: 'toml',
  GraphQL: 'graphql gql',
  'VB.net': 'vbnet vb.net',
  WebAssembly: 'wasm wast',
  Haskell: 'haskell hs',
  Scala: 'scala',
  Docker: 'dockerfile docker',
  'Nginx configuration file': 'nginx',
  Elixir: 'elixir ex exs',
  Erlang: 'erlang erl',
  Clojure: 'clojure clj',
  PowerShell: 'powershell ps1 posh pwsh',
  OCaml: 'ocaml ml',
  TeX: 'latex tex',
  Matlab: 'matlab octave',
  Julia: 'julia jl',
  Groovy: 'groovy',
  Dart: 'dart',
  'Common Lisp': 'lisp common-lisp cl',
  Scheme: 'scheme scm',
  CMake: 'cmake',
  'Protocol Buffer': 'protobuf proto',
  VimL: 'vim',
  ApacheConf: 'apache apacheconf',
  HTTP: 'http',
};

const nameByAlias = new Map<string, string>();
const grammarByAlias = new Map<string, string>();
for (const [name, aliases] of Object.entries(LANGUAGES)) {
  const [grammar = '', ...rest] = aliases.split(' ');
  for (const alias of [grammar, ...rest, name.toLowerCase()]) {
    nameByAlias.set(alias, name);
    grammarByAlias.set(alias, grammar);
  }
}

/** The canonical name; an unknown language keeps the name it was given. */
export function languageName(alias: string): string {
  return nameByAlias.get(alias.toLowerCase()) ?? alias;
}

/** The highlight.js grammar, which need not exist. */
export function grammarName(alias: string): string | undefined {
  return grammarByAlias.get(alias.toLowerCase());
}
