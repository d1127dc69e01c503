/** Made from `data/code-languages.tsv` by `data/build.ts`: a line for each row, columns separated by tabs. */
export const CODE_LANGUAGES = `
abap	ABAP
amdgpu	AMDGPU
apl	APL
abnf	ABNF
actionscript3	ActionScript 3
as3	ActionScript 3
actionscript	ActionScript
as	ActionScript
ada	Ada
ada95	Ada
ada2005	Ada
adl	ADL
agda	Agda
aheui	Aheui
alloy	Alloy
ambienttalk	AmbientTalk
ambienttalk/2	AmbientTalk
at	AmbientTalk
ampl	Ampl
html+ng2	HTML + Angular2
ng2	Angular2
antlr-actionscript	ANTLR With ActionScript Target
antlr-as	ANTLR With ActionScript Target
antlr-csharp	ANTLR With C# Target
antlr-c#	ANTLR With C# Target
antlr-cpp	ANTLR With CPP Target
antlr-java	ANTLR With Java Target
antlr	ANTLR
antlr-objc	ANTLR With ObjectiveC Target
antlr-perl	ANTLR With Perl Target
antlr-python	ANTLR With Python Target
antlr-ruby	ANTLR With Ruby Target
antlr-rb	ANTLR With Ruby Target
apacheconf	ApacheConf
aconf	ApacheConf
apache	ApacheConf
applescript	AppleScript
arduino	Arduino
arrow	Arrow
arturo	Arturo
art	Arturo
asc	ASCII armored
pem	ASCII armored
asn1	ASN.1
aspectj	AspectJ
asymptote	Asymptote
asy	Asymptote
augeas	Augeas
autoit	AutoIt
autohotkey	autohotkey
ahk	autohotkey
awk	Awk
gawk	Awk
mawk	Awk
nawk	Awk
bbcbasic	BBC Basic
bbcode	BBCode
bc	BC
bqn	BQN
bst	BST
bst-pybtex	BST
bare	BARE
basemake	Base Makefile
bash	Bash
sh	Bash
ksh	Bash
zsh	Bash
shell	Bash
openrc	Bash
console	Bash Session
shell-session	Bash Session
batch	Batchfile
bat	Batchfile
dosbatch	Batchfile
winbatch	Batchfile
bdd	Bdd
befunge	Befunge
berry	Berry
be	Berry
bibtex	BibTeX
bib	BibTeX
blitzbasic	BlitzBasic
b3d	BlitzBasic
bplus	BlitzBasic
blitzmax	BlitzMax
bmax	BlitzMax
blueprint	Blueprint
bnf	BNF
boa	Boa
boo	Boo
boogie	Boogie
brainfuck	Brainfuck
bf	Brainfuck
bugs	BUGS
winbugs	BUGS
openbugs	BUGS
camkes	CAmkES
idl4	CAmkES
c	C
cmake	CMake
c-objdump	c-objdump
cpsa	CPSA
css+ul4	CSS+UL4
aspx-cs	aspx-cs
csharp	C#
c#	C#
cs	C#
ca65	ca65 assembler
cadl	cADL
capdl	CapDL
capnp	Cap'n Proto
carbon	Carbon
cbmbas	CBM BASIC V2
cddl	CDDL
ceylon	Ceylon
cfengine3	CFEngine3
cf3	CFEngine3
chaiscript	ChaiScript
chai	ChaiScript
chapel	Chapel
chpl	Chapel
charmci	Charmci
html+cheetah	HTML+Cheetah
html+spitfire	HTML+Cheetah
htmlcheetah	HTML+Cheetah
javascript+cheetah	JavaScript+Cheetah
js+cheetah	JavaScript+Cheetah
javascript+spitfire	JavaScript+Cheetah
js+spitfire	JavaScript+Cheetah
cheetah	Cheetah
spitfire	Cheetah
xml+cheetah	XML+Cheetah
xml+spitfire	XML+Cheetah
cirru	Cirru
clay	Clay
clean	Clean
clojure	Clojure
clj	Clojure
clojurescript	ClojureScript
cljs	ClojureScript
cobolfree	COBOLFree
cobol	COBOL
codeql	CodeQL
ql	CodeQL
coffeescript	CoffeeScript
coffee-script	CoffeeScript
coffee	CoffeeScript
cfc	Coldfusion CFC
cfm	Coldfusion HTML
cfs	cfstatement
comal	COMAL-80
comal80	COMAL-80
common-lisp	Common Lisp
cl	Common Lisp
lisp	Common Lisp
componentpascal	Component Pascal
cp	Component Pascal
cplint	cplint
cpp	C++
c++	C++
cpp-objdump	cpp-objdump
c++-objdumb	cpp-objdump
cxx-objdump	cpp-objdump
crmsh	Crmsh
pcmk	Crmsh
croc	Croc
cryptol	Cryptol
cry	Cryptol
cr	Crystal
crystal	Crystal
csound-document	Csound Document
csound-csd	Csound Document
csound	Csound Orchestra
csound-orc	Csound Orchestra
csound-score	Csound Score
csound-sco	Csound Score
css+django	CSS+Django/Jinja
css+jinja	CSS+Django/Jinja
css+ruby	CSS+Ruby
css+erb	CSS+Ruby
css+genshitext	CSS+Genshi Text
css+genshi	CSS+Genshi Text
css	CSS
css+php	CSS+PHP
css+smarty	CSS+Smarty
cuda	CUDA
cu	CUDA
cypher	Cypher
cython	Cython
pyx	Cython
pyrex	Cython
d	D
d-objdump	d-objdump
dpatch	Darcs Patch
dart	Dart
dasm16	DASM16
dax	Dax
debcontrol	Debian Control file
control	Debian Control file
debian.sources	Debian Sources file
delphi	Delphi
pas	Delphi
pascal	Delphi
objectpascal	Delphi
desktop	Desktop file
devicetree	Devicetree
dts	Devicetree
dg	dg
diff	Diff
udiff	Diff
django	Django/Jinja
jinja	Django/Jinja
zone	Zone
docker	Docker
dockerfile	Docker
dtd	DTD
duel	Duel
jbst	Duel
jsonml+bst	Duel
dylan-console	Dylan session
dylan-repl	Dylan session
dylan	Dylan
dylan-lid	DylanLID
lid	DylanLID
ecl	ECL
ec	eC
earl-grey	Earl Grey
earlgrey	Earl Grey
eg	Earl Grey
easytrieve	Easytrieve
ebnf	EBNF
eiffel	Eiffel
iex	Elixir iex session
elixir	Elixir
ex	Elixir
exs	Elixir
elm	Elm
elpi	Elpi
emacs-lisp	EmacsLisp
elisp	EmacsLisp
emacs	EmacsLisp
email	E-mail
eml	E-mail
erb	ERB
erlang	Erlang
erl	Erlang erl session
html+evoque	HTML+Evoque
evoque	Evoque
xml+evoque	XML+Evoque
execline	execline
ezhil	Ezhil
fsharp	F#
f#	F#
fstar	FStar
factor	Factor
fancy	Fancy
fy	Fancy
fan	Fantom
felix	Felix
flx	Felix
fennel	Fennel
fnl	Fennel
fift	Fift
fif	Fift
fish	Fish
fishshell	Fish
flatline	Flatline
floscript	FloScript
flo	FloScript
forth	Forth
fortranfixed	FortranFixed
fortran	Fortran
f90	Fortran
foxpro	FoxPro
vfp	FoxPro
clipper	FoxPro
xbase	FoxPro
freefem	Freefem
func	FunC
fc	FunC
futhark	Futhark
gap-console	GAP session
gap-repl	GAP session
gap	GAP
gdscript	GDScript
gd	GDScript
glsl	GLSL
gsql	GSQL
gas	GAS
asm	GAS
gcode	g-code
genshi	Genshi
kid	Genshi
xml+genshi	Genshi
xml+kid	Genshi
genshitext	Genshi Text
pot	Gettext Catalog
po	Gettext Catalog
gherkin	Gherkin
cucumber	Gherkin
gleam	Gleam
gnuplot	Gnuplot
go	Go
golang	Go
golo	Golo
gooddata-cl	GoodData-CL
googlesql	GoogleSQL
zetasql	GoogleSQL
gosu	Gosu
gst	Gosu Template
graphql	GraphQL
graphviz	Graphviz
dot	Graphviz
groff	Groff
nroff	Groff
man	Groff
groovy	Groovy
hlsl	HLSL
html+ul4	HTML+UL4
haml	Haml
html+handlebars	HTML+Handlebars
handlebars	Handlebars
hare	Hare
haskell	Haskell
hs	Haskell
haxe	Haxe
hxsl	Haxe
hx	Haxe
hexdump	Hexdump
hsail	HSAIL
hsa	HSAIL
hspec	Hspec
html+django	HTML+Django/Jinja
html+jinja	HTML+Django/Jinja
htmldjango	HTML+Django/Jinja
html+genshi	HTML+Genshi
html+kid	HTML+Genshi
html	HTML
html+php	HTML+PHP
html+smarty	HTML+Smarty
http	HTTP
haxeml	Hxml
hxml	Hxml
hylang	Hy
hy	Hy
hybris	Hybris
idl	IDL
icon	Icon
idris	Idris
idr	Idris
igor	Igor
igorpro	Igor
inform6	Inform 6
i6	Inform 6
i6t	Inform 6 template
inform7	Inform 7
i7	Inform 7
ini	INI
cfg	INI
dosini	INI
io	Io
ioke	Ioke
ik	Ioke
irc	IRC logs
isabelle	Isabelle
j	J
jmespath	JMESPath
jp	JMESPath
jslt	JSLT
jags	JAGS
janet	Janet
jasmin	Jasmin
jasminxt	Jasmin
java	Java
javascript+django	JavaScript+Django/Jinja
js+django	JavaScript+Django/Jinja
javascript+jinja	JavaScript+Django/Jinja
js+jinja	JavaScript+Django/Jinja
javascript+ruby	JavaScript+Ruby
js+ruby	JavaScript+Ruby
javascript+erb	JavaScript+Ruby
js+erb	JavaScript+Ruby
js+genshitext	JavaScript+Genshi Text
js+genshi	JavaScript+Genshi Text
javascript+genshitext	JavaScript+Genshi Text
javascript+genshi	JavaScript+Genshi Text
javascript	JavaScript
js	JavaScript
javascript+php	JavaScript+PHP
js+php	JavaScript+PHP
javascript+smarty	JavaScript+Smarty
js+smarty	JavaScript+Smarty
js+ul4	Javascript+UL4
jcl	JCL
jsgf	JSGF
json5	JSON5
jsonld	JSON-LD
json-ld	JSON-LD
json	JSON
json-object	JSON
jsonnet	Jsonnet
jsp	Java Server Page
jsx	JSX
react	JSX
jlcon	Julia console
julia-repl	Julia console
julia	Julia
jl	Julia
juttle	Juttle
k	K
kal	Kal
kconfig	Kconfig
menuconfig	Kconfig
linux-config	Kconfig
kernel-config	Kconfig
kmsg	Kernel log
dmesg	Kernel log
koka	Koka
kotlin	Kotlin
kuin	Kuin
kql	Kusto
kusto	Kusto
lsl	LSL
css+lasso	CSS+Lasso
html+lasso	HTML+Lasso
javascript+lasso	JavaScript+Lasso
js+lasso	JavaScript+Lasso
lasso	Lasso
lassoscript	Lasso
xml+lasso	XML+Lasso
ldapconf	LDAP configuration file
ldaprc	LDAP configuration file
ldif	LDIF
lean	Lean
lean3	Lean
lean4	Lean4
less	LessCss
lighttpd	Lighttpd configuration file
lighty	Lighttpd configuration file
lilypond	LilyPond
limbo	Limbo
liquid	liquid
literate-agda	Literate Agda
lagda	Literate Agda
literate-cryptol	Literate Cryptol
lcryptol	Literate Cryptol
lcry	Literate Cryptol
literate-haskell	Literate Haskell
lhaskell	Literate Haskell
lhs	Literate Haskell
literate-idris	Literate Idris
lidris	Literate Idris
lidr	Literate Idris
livescript	LiveScript
live-script	LiveScript
llvm	LLVM
llvm-mir-body	LLVM-MIR Body
llvm-mir	LLVM-MIR
logos	Logos
logtalk	Logtalk
lua	Lua
luau	Luau
mcfunction	MCFunction
mcf	MCFunction
mcschema	MCSchema
mime	MIME
mips	MIPS
moocode	MOOCode
moo	MOOCode
doscon	MSDOS Session
macaulay2	Macaulay2
make	Makefile
makefile	Makefile
mf	Makefile
bsdmake	Makefile
css+mako	CSS+Mako
html+mako	HTML+Mako
javascript+mako	JavaScript+Mako
js+mako	JavaScript+Mako
mako	Mako
xml+mako	XML+Mako
maple	Maple
maql	MAQL
markdown	Markdown
md	Markdown
mask	Mask
mason	Mason
mathematica	Mathematica
mma	Mathematica
nb	Mathematica
wl	Mathematica
wolfram	Mathematica
matlab	Matlab
matlabsession	Matlab session
maxima	Maxima
macsyma	Maxima
meson	Meson
meson.build	Meson
minid	MiniD
miniscript	MiniScript
ms	MiniScript
modelica	Modelica
modula2	Modula-2
m2	Modula-2
trac-wiki	MoinMoin/Trac Wiki markup
moin	MoinMoin/Trac Wiki markup
mojo	Mojo
🔥	Mojo
monkey	Monkey
monte	Monte
moonscript	MoonScript
moon	MoonScript
mosel	Mosel
css+mozpreproc	CSS+mozpreproc
mozhashpreproc	mozhashpreproc
javascript+mozpreproc	Javascript+mozpreproc
mozpercentpreproc	mozpercentpreproc
xul+mozpreproc	XUL+mozpreproc
mql	MQL
mq4	MQL
mq5	MQL
mql4	MQL
mql5	MQL
mscgen	Mscgen
msc	Mscgen
mupad	MuPAD
mxml	MXML
mysql	MySQL
css+myghty	CSS+Myghty
html+myghty	HTML+Myghty
javascript+myghty	JavaScript+Myghty
js+myghty	JavaScript+Myghty
myghty	Myghty
xml+myghty	XML+Myghty
ncl	NCL
nsis	NSIS
nsi	NSIS
nsh	NSIS
nasm	NASM
objdump-nasm	objdump-nasm
nemerle	Nemerle
nesc	nesC
nestedtext	NestedText
nt	NestedText
newlisp	NewLisp
newspeak	Newspeak
nginx	Nginx configuration file
nimrod	Nimrod
nim	Nimrod
nit	Nit
nixos	Nix
nix	Nix
nodejsrepl	Node.js REPL console session
notmuch	Notmuch
nusmv	NuSMV
numpy	NumPy
numba_ir	Numba_IR
numbair	Numba_IR
objdump	objdump
objective-c	Objective-C
objectivec	Objective-C
obj-c	Objective-C
objc	Objective-C
objective-c++	Objective-C++
objectivec++	Objective-C++
obj-c++	Objective-C++
objc++	Objective-C++
objective-j	Objective-J
objectivej	Objective-J
obj-j	Objective-J
objj	Objective-J
ocaml	OCaml
octave	Octave
odin	ODIN
omg-idl	OMG Interface Definition Language
ooc	Ooc
opa	Opa
openedge	OpenEdge ABL
abl	OpenEdge ABL
progress	OpenEdge ABL
openscad	OpenSCAD
org	Org Mode
orgmode	Org Mode
org-mode	Org Mode
output	Text output
pacmanconf	PacmanConf
pan	Pan
parasail	ParaSail
pawn	Pawn
pddl	PDDL
peg	PEG
perl6	Perl6
pl6	Perl6
raku	Perl6
perl	Perl
pl	Perl
phix	Phix
php	PHP
php3	PHP
php4	PHP
php5	PHP
pig	Pig
pike	Pike
pkgconfig	PkgConfig
plpgsql	PL/pgSQL
pointless	Pointless
pony	Pony
portugol	Portugol
postscript	PostScript
postscr	PostScript
psql	PostgreSQL console (psql)
postgresql-console	PostgreSQL console (psql)
postgres-console	PostgreSQL console (psql)
postgres-explain	PostgreSQL EXPLAIN dialect
postgresql	PostgreSQL SQL dialect
postgres	PostgreSQL SQL dialect
pov	POVRay
powershell	PowerShell
pwsh	PowerShell
posh	PowerShell
ps1	PowerShell
psm1	PowerShell
pwsh-session	PowerShell Session
ps1con	PowerShell Session
praat	Praat
procfile	Procfile
prolog	Prolog
promql	PromQL
promela	Promela
properties	Properties
jproperties	Properties
protobuf	Protocol Buffer
proto	Protocol Buffer
prql	PRQL
psysh	PsySH console session for PHP
ptx	PTX
pug	Pug
jade	Pug
puppet	Puppet
pypylog	PyPy Log
pypy	PyPy Log
python2	Python 2.x
py2	Python 2.x
py2tb	Python 2.x Traceback
pycon	Python console session
python-console	Python console session
python	Python
py	Python
sage	Python
python3	Python
py3	Python
bazel	Python
starlark	Python
pyi	Python
pytb	Python Traceback
py3tb	Python Traceback
py+ul4	Python+UL4
qbasic	QBasic
basic	QBasic
q	Q
qvto	QVTO
qvt	QVTO
qlik	Qlik
qlikview	Qlik
qliksense	Qlik
qlikscript	Qlik
qml	QML
qbs	QML
rconsole	RConsole
rout	RConsole
rng-compact	Relax-NG Compact
rnc	Relax-NG Compact
spec	RPMSpec
racket	Racket
rkt	Racket
ragel-c	Ragel in C Host
ragel-cpp	Ragel in CPP Host
ragel-d	Ragel in D Host
ragel-em	Embedded Ragel
ragel-java	Ragel in Java Host
ragel	Ragel
ragel-objc	Ragel in Objective C Host
ragel-ruby	Ragel in Ruby Host
ragel-rb	Ragel in Ruby Host
rd	Rd
reasonml	ReasonML
reason	ReasonML
rebol	REBOL
red	Red
red/system	Red
redcode	Redcode
registry	reg
rego	Rego
rell	Rell
resourcebundle	ResourceBundle
resource	ResourceBundle
rexx	Rexx
arexx	Rexx
rhtml	RHTML
html+erb	RHTML
html+ruby	RHTML
ride	Ride
rita	Rita
roboconf-graph	Roboconf Graph
roboconf-instances	Roboconf Instances
robotframework	RobotFramework
coq	Rocq Prover
rocq	Rocq Prover
rocq-prover	Rocq Prover
rql	RQL
rsl	RSL
restructuredtext	reStructuredText
rst	reStructuredText
rest	reStructuredText
trafficscript	TrafficScript
rts	TrafficScript
rbcon	Ruby irb session
irb	Ruby irb session
ruby	Ruby
rb	Ruby
duby	Ruby
rust	Rust
rs	Rust
sas	SAS
splus	S
s	S
r	S
sml	Standard ML
snbt	SNBT
sarl	SARL
sass	Sass
savi	Savi
scala	Scala
scaml	Scaml
scdoc	scdoc
scd	scdoc
scheme	Scheme
scm	Scheme
scilab	Scilab
scss	SCSS
sed	Sed
gsed	Sed
ssed	Sed
shexc	ShExC
shex	ShExC
shen	Shen
sieve	Sieve
silver	Silver
singularity	Singularity
slash	Slash
slim	Slim
slurm	Slurm
sbatch	Slurm
smali	Smali
smalltalk	Smalltalk
squeak	Smalltalk
st	Smalltalk
sgf	SmartGameFormat
smarty	Smarty
smithy	Smithy
snobol	Snobol
snowball	Snowball
solidity	Solidity
androidbp	Soong
bp	Soong
soong	Soong
sophia	Sophia
sp	SourcePawn
debsources	Debian Sourcelist
sourceslist	Debian Sourcelist
sources.list	Debian Sourcelist
sparql	SPARQL
spice	Spice
spicelang	Spice
sql+jinja	SQL+Jinja
sql	SQL
sqlite3	sqlite3con
squidconf	SquidConf
squid.conf	SquidConf
squid	SquidConf
srcinfo	Srcinfo
ssp	Scalate Server Page
stan	Stan
stata	Stata
do	Stata
supercollider	SuperCollider
sc	SuperCollider
swift	Swift
swig	SWIG
systemverilog	systemverilog
sv	systemverilog
systemd	Systemd
tap	TAP
tnt	Typographic Number Theory
toml	TOML
tablegen	TableGen
td	TableGen
tact	Tact
tads3	TADS 3
tal	Tal
uxntal	Tal
tasm	TASM
tcl	Tcl
tcsh	Tcsh
csh	Tcsh
tcshcon	Tcsh Session
tea	Tea
teal	teal
teratermmacro	Tera Term macro
teraterm	Tera Term macro
ttl	Tera Term macro
termcap	Termcap
terminfo	Terminfo
terraform	Terraform
tf	Terraform
hcl	Terraform
tex	TeX
latex	TeX
text	Text only
ti	ThingsDB
thingsdb	ThingsDB
thrift	Thrift
tid	tiddler
tlb	Tl-b
tls	TLS Presentation Language
todotxt	Todotxt
tsql	Transact-SQL
t-sql	Transact-SQL
treetop	Treetop
tsx	TSX
turtle	Turtle
html+twig	HTML+Twig
twig	Twig
typescript	TypeScript
ts	TypeScript
typoscriptcssdata	TypoScriptCssData
typoscripthtmldata	TypoScriptHtmlData
typoscript	TypoScript
typst	Typst
ul4	UL4
ucode	ucode
unicon	Unicon
unixconfig	Unix/Linux config files
linuxconfig	Unix/Linux config files
urbiscript	UrbiScript
urlencoded	urlencoded
usd	USD
usda	USD
vbscript	VBScript
vcl	VCL
vclsnippets	VCLSnippets
vclsnippet	VCLSnippets
vctreestatus	VCTreeStatus
vgl	VGL
vala	Vala
vapi	Vala
aspx-vb	aspx-vb
vb.net	VB.net
vbnet	VB.net
lobas	VB.net
oobas	VB.net
sobas	VB.net
visual-basic	VB.net
visualbasic	VB.net
html+velocity	HTML+Velocity
velocity	Velocity
xml+velocity	XML+Velocity
verifpal	Verifpal
verilog	verilog
v	verilog
vhdl	vhdl
vim	VimL
visualprologgrammar	Visual Prolog Grammar
visualprolog	Visual Prolog
vue	Vue
vyper	Vyper
wdiff	WDiff
wast	WebAssembly
wat	WebAssembly
webidl	Web IDL
wgsl	WebGPU Shading Language
whiley	Whiley
wikitext	Wikitext
mediawiki	Wikitext
wowtoc	World of Warcraft TOC
wren	Wren
x10	X10
xten	X10
xml+ul4	XML+UL4
xquery	XQuery
xqy	XQuery
xq	XQuery
xql	XQuery
xqm	XQuery
xml+django	XML+Django/Jinja
xml+jinja	XML+Django/Jinja
xml+ruby	XML+Ruby
xml+erb	XML+Ruby
xml	XML
xml+php	XML+PHP
xml+smarty	XML+Smarty
xorg.conf	Xorg
xpp	X++
x++	X++
xslt	XSLT
xtend	Xtend
extempore	xtlang
yaml+jinja	YAML+Jinja
salt	YAML+Jinja
sls	YAML+Jinja
yaml	YAML
yang	YANG
yara	YARA
yar	YARA
zeek	Zeek
bro	Zeek
zephir	Zephir
zig	Zig
ansys	ANSYS parametric design language
apdl	ANSYS parametric design language
ipython2	IPython
ipython	IPython
ipython3	IPython3
ipythonconsole	IPython console session
`;
