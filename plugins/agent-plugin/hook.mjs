// Minified from src/domain/secrets.
const secretRules = {};
(()=>{var{rawJSON:hn}=JSON;var f=class{constructor(e,n){this.e=e;this.d=n}text;ofClass;from=0;to=-1;a(e){return(e<this.from||e>this.to)&&(this.d.lastIndex=e,this.d.test(this.e),this.from=e,this.to=this.d.lastIndex),this.to}},w=class{constructor(e,n){this.e=e;this.d=n}text;ofClass;from=0;r=-1;g(e,n){return(e<this.from||e>this.r)&&(this.d.lastIndex=e,this.from=e,this.r=this.d.test(this.e)?this.d.lastIndex-1:this.e.length),this.r<n}},ae="abacadagaialamanaparasatauaybabebiblbobrbucacechcickclcocrctcudadedidodsdueaecedeeefegelemeneperesetevexfafefifogeghgigrguhahehihohtiaibicidieifigiliminioipirisitivkekikslaldlelilllolslulymamemimompnancndnengninonsntocodolomonoooporosotouovowpapepiplpoppprptqurarcrdrerirmrorrrsrtrurysascseshsisospssstsutatctethtitotrtstttutyucueulumunupurusutvaveviwawewhwixp",ce=new Set(ae.match(/../g)),le=64,ue=.7,pe=3.5;function g(t){let e=t.slice(0,le).match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g);if(e===null)return!1;let[n,s,r]=[0,0,0];for(let o of e){n+=o.length,s+=o.length-1;let i=o.toLowerCase();for(let c=1;c<i.length;c++)ce.has(i.slice(c-1,c+1))&&r++}return s>0&&n/e.length>=pe&&r/s>=ue}var de=/^(?:.{0,4}(?:\*{3,}|\.{3,}|…+).{0,4}|(?:[a-z]{1,8}[-_]){0,3}x[-_x]*)$|^\[redacted:/i,ge=/^(?:your(?:[-_.][-_.a-z0-9]+|[a-z]*)|(?:example|sample|dummy|placeholder|replace|insert|enter|please|change.?me)[a-z-_.]*!?)$/i,fe=/^(?:\$[a-z_]\w*|%\w+%|#[0-9a-f]{3,8}|[#/][a-z_-]+|\/[\w-]+\.[a-z]{1,5})$/i,he=/^(?:&lt;|["']\$|(?:undefined|optional|required|nullable)(?![\w-])|\$[a-z_]\w*(?:->|[/[$.:])|%(?:[({]|s\b))/i,_e=new Set("string str number int integer bool boolean bytes buffer any unknown object null none nil void never true false yes no on off inherit required optional hidden masked redacted missing invalid disabled enabled default generated foo bar foobar test testing todo tbd contraseña passwort kennwort n/a value securestring varchar text uuid".split(" ")),me=/^(?:my|the|db|user|new|old|some|super|test)?[-_ ]?(?:password|passwd|passphrase|secret|token|key|pass|pwd|credentials?|api[-_]?key)$/i,ye=/^[0-]+$|^[~^>=<v]*\d{1,5}(?:\.\d{1,5}){1,3}(?:[-+][\w.]{1,40})?$/,be=/^(?:arn:|sha\d{1,3}[-:]|[a-z]:\\|\.{1,2}\/|~\/|\/[\w.@-]+\/(?!\S*\+)|[a-z][a-z0-9+.-]{1,20}:\/\/)/i,Ae=/\$[{(]|\{\{/,we=/^(?:[\w-]*<[^<>\n]*>|\{[^{}\n]*\}|#\{|\([^()\n]*\)|[A-Za-z_$][\w$.:]*\((?:[^\n]*\)|["'`\s]|$))/,_=(t,e)=>_e.has(t.toLowerCase())||[de,ge,me,ye,fe,he,be,Ae].some(n=>n.test(t))||/[<{(]/.test(e.slice(0,t.length+1))&&we.test(e);var K="(?:api|access|secret|private|auth|encryption|signing|master|account|subscription|license|admin|session|service|app|application|server|webhook)",ke=/(?:secret|password|passwd|passphrase|passcode|passwort|pwd|credential|token|_key|accountkey|sharedaccesskey)\d*$/i,Ee=new RegExp(`${K}[-_.]?key\\d*$`,"i"),Se=/(?:^|[^A-Za-z])pass\d*$|[a-z]Pass\d*$/i,Re=/(?:db|user|admin|root|smtp|mail|ftp|ssh|sql|redis|pg|proxy|become|sudo|login|key|cert|store|vault|mongo|mq|bind|account)[-_.]?pass\d*$/i,Oe=/(?:^|[^A-Za-z])_?auth$/i,Ne=/[a-z]Key\d*$|[-.](?:key|KEY|Key)\d*$/,xe=new RegExp("(?:public|primary|foreign|sort|partition|cache|row|group|idempotency|index|unique|query|publishable|site|socket|object|s3|file|map|hash)-?key\\d*$","i"),B=/(?:passw(?:or)?d|passphrase|passcode|passwort|pwd)|secret\d*$|(?:api|access|auth|private|signing|encryption|master)[-_.]?key\d*$/i,$e=/(?:public|primary|foreign|sort|partition|cache|row|group|idempotency|index|unique|storage|query|publishable|site)_key$/i,Te=new RegExp(`^.*(?:secret|password|passwd|passphrase|passcode|passwort|pwd|credential|token|${K}[-_.]?key)`,"i"),Ie=/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])/,ze=new Set("age agent algorithm alg arn at audience box budget button category chars class column cost count counter counts created date days description dir duration enabled encoder encoding endpoint env error errors event expire expires expiration expiry field fields file filename flag form format generator group handler header help hint host hours id ids in index input issuer kind label length len lifetime limit limits list manager max message method min minutes mode model ms name names number offset on path pattern placeholder policy position prefix price prompt provider rate ref reference regex remaining required reset response rotation rule rules schema scope scopes score seconds selector service size source start state status stdin store stream strength suffix table text time timeout title ttl type types updated uri url usage used validator version visible window cs css go html java js json jsx log md php py rb rs sh sql toml ts tsx txt vue yaml yml".split(" "));function Ce(t){if(ke.test(t)||Ee.test(t))return $e.test(t)?null:B.test(t)?"strong":"plain";if(Re.test(t)||/psk$|honeycomb-team$/i.test(t))return"plain";if(Se.test(t)||Oe.test(t))return"weak";if(Ne.test(t))return xe.test(t)?null:"weak";let e=Te.exec(t)?.[0];if(e===void 0)return null;let n=t.slice(e.length);return(/[A-Z]$/.test(e)?/^[A-Za-z]/:/^[a-z]/).test(n)||n.split(Ie).some(r=>ze.has(r.toLowerCase()))?null:B.test(e)?"strong":"plain"}var O=new RegExp(String.raw`(?:secret|pass(?:w(?:or)?d|phrase|code|wort)?|pwd|token|key|credential|unseal|authorization|cookie|_auth|\bauth|sig|psk|`+String.raw`appid|honeycomb-team)[\w.-]*`,"gi"),N=String.raw`(?:(?:\p{Cc}|\\x1b|\\u001b|\\033|\\e)\[[0-9;]{0,9}m)?`,Le=new RegExp([String.raw`${N}(?:\\{0,3}["'${"`"}]|\*\*)?\]?${N}[ \t]{0,20}(?:=>|:=|\?=|[=:](?![=:]))`,String.raw`${N}(?:\*\*)?[ \t]{0,20}(?:[A-Za-z]{1,20}[ \t]{1,5}=[ \t]{0,5})?${N}`].join(""),"uy"),ve=/\\{0,3}["'`]?[ \t]{0,5},?\s{0,20}\\{0,3}["'`]?(?:value|content|default)\\{0,3}["'`]?[ \t]{0,5}[:=][ \t]{0,5}/iy,Me=/(?:["'][^<>\n]{0,60})?>(?=[^<>\n]{1,256}<\/)[ \t]{0,5}/y,De=/["'`]?\]?[ \t]{0,5}[!=]==?[ \t]{0,5}(?=["'`])/y,Ze=/\\{0,3}["'][ \t]{0,5},[ \t]{0,5}(?:["'](?=["']))?(?=\\{0,3}["'])/y,Ge=/\(\s{0,5}["'][^"'\n]{1,80}["'],\s{0,5}(?=["'])/y,P=/\([ \t]{0,5}(?=["'`])/y,Be=/[ \t]\d{1,2}(?=:)/y,Pe=/[ \t]{1,20}/y,Ke=/[ \t]{0,3}(?:(?:for|of|to|on|in)[ \t]\S{1,40}[ \t])?(?:is|was|are|=|is:|will be|should be|\|)[ \t]{1,5}/iy,Fe=/[bBruU@]?\\{0,3}["'`]/y,qe=/[|>][+-]?\d?[ \t]{0,20}\r?\n/y,je={'"':[/[^\s"\\\p{Cc}]*/uy,/[^\n"\\\p{Cc}]*/uy],"'":[/[^\s'\\\p{Cc}]*/uy,/[^\n'\\\p{Cc}]*/uy],"`":[/[^\s`\\\p{Cc}]*/uy,/[^\n`\\\p{Cc}]*/uy]},We=/[^\s"'`\p{Cc}]*/uy,Ue=/[^\s"'`<>&;#)\p{Cc}]*/uy,Je=/[^\s"'`<>;\p{Cc}]*/uy,Ve=/[^<>\n\p{Cc}]*/uy,Qe=/[^\s"'`,;&()[\]{}<>\\=:|\p{Cc}]*={0,2}/uy,C=8,F=6,R=256,L=64,Ye=4e3,He=8e3,q=/passw|passphrase|passcode|pwd/i,x=/secret|passw|pwd|token|key|required|invalid|missing|credential|hash/i,j=/^[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+$/,Xe="$*#%",$=/^[A-Z][A-Z0-9_]*$/,et=new Set("must be is are was the a an your it its of for at should not no with and or in on to please enter forgot reset change confirm new min least character characters if this that can cannot will use see from by".split(" ")),W=t=>/[?…]|\.\.\./.test(t)||t.split(/\s/).some(e=>et.has(e.toLowerCase())),tt=/^[,;()[\]{}<>.=&|]/,nt=new RegExp("^(?:[ \\t]{0,5}(?:$|[\\r\\n]|#|\\/\\/|\\\\n|\\\\r)|[\"'`]|\\p{Cc}|\\\\(?:u001b|x1b|033|e\\[))","u"),m=t=>t.match(/\d/g)?.length??0,T=t=>m(t)>0&&/[A-Za-z]/.test(t)||/[a-z]/i.test(t)&&/[!@#%^*+~$]/.test(t)||!g(t);function st(t,{f:e,h:n}){if(Xe.includes(t.charAt(0)))return!1;if(m(t)>=2||/[-!@#%^*+/~]/.test(t))return!0;let s=n.slice(t.length,t.length+8);return e==="strong"&&nt.test(s)?!x.test(t)||!g(t):tt.test(s)&&/^[A-Za-z_]+\d?$/.test(t)?!g(t):!g(t)}function rt(t,e){let{f:n,t:s,h:r}=e;return _(t,r)?!1:n===null?s!=="words"&&m(t)>=2&&t.length>=20&&/[A-Za-z]/.test(t):n==="weak"&&s!=="line"?t.length>=16&&m(t)>0&&T(t)&&(m(t)>1||/[A-Z]/.test(t)&&!g(t)):s==="line"?!0:s==="words"?n==="strong"&&/^\w/.test(t)&&!x.test(t)&&!W(t):t.includes(".")&&j.test(t)&&m(t)<4?!1:s==="prose"?T(t):s==="bare"?st(t,e):m(t)>0?!0:/[^\w\-./]/.test(t)?!(/[/#]/.test(t)&&x.test(t)&&g(t)):!g(t)||n==="strong"&&!x.test(t)}function p(t,e,n){return t.lastIndex=n,t.exec(e)?.[0]??null}var y=(t,e,n)=>n+(p(t,e,n)?.length??0),I=(t,e,n)=>t.slice(Math.max(0,e-n),e);function ot(t,{e,from:n},s,r){let o=s==="="||new RegExp("\\p{Cc}","u").test(s)&&/^=$/.test(s.replace(new RegExp("\\p{Cc}\\[[0-9;]{0,9}m","gu"),"")),i=t[n-1]===" "?t[n-2]:t[n-1];return o&&(i==="?"||i==="&")?"parameter":o&&i===";"?"member":e.startsWith("-")||o&&$.test(e)?"line":o&&(i===void 0||i==='"'||i==="'")&&/^[^;\n]{1,80};[ \t]?[A-Za-z]/.test(t.slice(r,r+90))?"member":"bare"}function it(t,{e,from:n,to:s}){let r=t[s];if(r==="("&&/(?:^|\.)(?:set|with|add)[A-Z_]|(?:^|\.)password$/.test(e)){let a=p(P,t,s);return a===null?null:{s:s+a.length,t:"quoted"}}if(r==="("&&/(?:api_?key|token|secret)$/i.test(e)){let a=p(P,t,s);return a===null?null:{s:s+a.length,t:"argument"}}if(r==="("&&/credentials?$/i.test(e)){let a=p(Ge,t,s);return a===null?null:{s:s+a.length,t:"quoted"}}let o=r===">"&&(t[n-1]==="<"||/<[\w-]{1,20}:$/.test(I(t,n,24))),i=(r==='"'||r==="'")&&/<[\w:-]{1,40}[ \t][^<>]{0,60}$/.test(I(t,n,80));if(!o&&!i)return null;let c=p(Me,t,s);return c===null?null:{s:s+c.length,t:"element"}}function at(t,e){let{from:n,to:s}=e,r=/key$/i.test(e.e)?p(Be,t,s)?.length??0:0,o=p(Le,t,s+r);if(o!==null){if(o===":"&&t[n-1]===":")return null;let E=s+r+o.length;return{s:E,t:ot(t,e,o,E)}}let i=p(De,t,s);if(i!==null)return{s:s+i.length,t:"quoted"};let c=p(ve,t,s);if(c!==null)return{s:s+c.length,t:$.test(e.e)||c.includes("=")?"line":"bare"};let a=it(t,e);if(a!==null)return a;let l=p(Ze,t,s)??p(Ke,t,s);if(l!==null)return{s:s+l.length,t:"prose"};let u=p(Pe,t,s);if(u===null)return null;let d=s+u.length;return $.test(e.e)&&ut.test(I(t,n,40))?{s:d,t:"line"}:q.test(e.e)&&pt.test(I(t,n,80))?{s:d,t:"line"}:/^--?[A-Za-z]/.test(e.e)?{s:d,t:dt(t,d)?"prose":"line"}:ct(t,e,d)}function ct(t,{e},n){if(/["'`]/.test(t[n]??""))return{s:n,t:$.test(e)?"line":"prose"};let s=p(lt,t,n);return s!==null&&m(s)>1&&/[A-Za-z]/.test(s)?{s:n,t:"prose"}:null}var lt=/[\w+/-]{20,256}={0,2}(?![\w=])/y,ut=/(?:^|\n)[ \t]*(?:ENV|ARG|setx|setenv|set(?:[ \t]+-\w+)+)[ \t]+$/,pt=/\b(?:login|user)[ \t]{1,9}\S{1,60}\s{1,9}$/,dt=(t,e)=>/^[a-z]+[,.]?[ \t]+[a-z]/.test(t.slice(e,e+60)),gt=/sess|sid|auth|token|login|csrf|jwt|secret/i;function ft(t,e,n){let s=/["']?([^=;\s"'`]{1,64})=([^;\s"'`\p{Cc}]*)(?:;[ \t]{0,5})?/uy,r=[],o=e;for(;o<e+Ye&&!(n&&o>e);){s.lastIndex=o;let i=s.exec(t);if(i===null)break;let[c,a="",l=""]=i,u=o+c.indexOf("=",a.length)+1,d=l.slice(0,R);l.length>=C&&!_(d,d)&&(T(d)||gt.test(a))&&r.push({n:"cookie",from:u,to:u+l.length}),o+=c.length}return{r,to:o}}function ht(t,e,n){let s=/([ \t]*)([^\n]*)(?:\n|$)/y,r=[],o=e;for(;o<Math.min(t.length,e+He);){s.lastIndex=o;let i=s.exec(t);if(i===null)break;let[c,a="",l=""]=i,u=l.trim();if(u!==""&&a.length<=n)break;u.length>=F&&!_(u,u)&&!W(u)&&r.push({n:"secret",from:o+a.length,to:o+a.length+l.trimEnd().length}),o+=c.length}return{r,to:o}}function U(t,e,n,s){if(n==="argument")return U(t,e,"quoted",s);if(n==="element")return{t:"line",from:e,to:y(Ve,t,e)};let r=p(Fe,t,e)??"",o=e+r.length;if(r==="")return n==="member"?{t:"line",from:o,to:y(Je,t,o)}:n==="parameter"?{t:"line",from:o,to:y(Ue,t,o)}:{t:n,from:o,to:y(n==="line"?We:Qe,t,o)};let[i,c]=je[r.slice(-1)],a=y(i,t,o);if(!/\s/.test(t[a]??'"'))return{t:n==="parameter"||n==="member"?"line":n==="bare"?"quoted":n,from:o,to:a};let l=y(c,t,a);return s==="strong"&&t.startsWith(r.slice(-1),l)?{t:"words",from:o,to:l}:null}var _t=/["']?(?:(?:[A-Za-z][\w-]{1,20})[ \t]{1,5})?(?:(?:token|api_?key|key)=["']?)?/iy,mt=/[^\s"'`,\p{Cc}]*/uy;function yt(t,e){let n=e+(p(_t,t,e)?.length??0),s=y(mt,t,n),r=t.slice(n,Math.min(s,n+R));return{r:r.length<C||/^[A-Za-z]+=/.test(r)||_(r,t.slice(n,n+R))||m(r)===0&&r.length<16||!T(r)||j.test(r)?[]:[{n:"authorization",from:n,to:s}],to:s}}var bt=/(?:api|access|secret|private|license|encryption|signing|auth|unseal|recovery)[ \t]$/i;function At(t){return/_authtoken$|^_auth$/i.test(t)?"npm":/accountkey$|sharedaccesskey$/i.test(t)?"azure":"secret"}function wt(t,e,n){let s=e+n,r=e;for(;r>0&&s-r<L&&/[\w.-]/.test(t[r-1]);)r--;return t[r-1]==="["&&(r+=/^[\d;]{0,9}m/.exec(t.slice(r,e))?.[0].length??0),{e:t.slice(r,s),from:r,to:s}}function kt(t,e,n){let s=/[?&;]$/.test(t.slice(Math.max(0,e.from-1),e.from));if(s&&/^(?:sig|signature|key|auth|access_key)$/i.test(e.e))return"plain";if(s&&/^appid$/i.test(e.e))return null;if(/^unseal$/i.test(e.e))return"weak";if(/^key$/i.test(e.e))return bt.test(t.slice(Math.max(0,e.from-12),e.from))?"strong":void 0;let r=Ce(e.e);if(!(r===null&&!/^(?:secret|passw|token)/i.test(n)))return r}function*J(t){O.lastIndex=0;for(let e=O.exec(t);e!==null;e=O.exec(t)){let[n]=e,s=wt(t,e.index,n.length),{r,to:o}=n.length>L?{r:[],to:s.to}:Et(t,s,n);yield*r,O.lastIndex=Math.max(s.to,o)}}function Et(t,e,n){let s={r:[],to:e.to},r=/^-*(?:set-)?cookie2?$/i.test(e.e),o=/authorization$/i.test(e.e),i=r||o?"plain":kt(t,e,n);if(i===void 0)return s;let c=at(t,e);if(c===null)return s;let a=c.t==="argument"?"weak":i,{s:l}=c;if(r)return ft(t,l,/^set/i.test(e.e));if(o)return yt(t,l);let u=a!==null&&c.t==="bare"?p(qe,t,l):null;if(u!==null)return ht(t,l+u.length,St(t,e.from));let d=U(t,l,c.t,a);if(d===null)return{r:[],to:l};let{t:E,from:A,to:S}=d;if(S-A<(q.test(e.e)&&E!=="prose"?F:C)||a===null&&/^_?key/i.test(n))return{r:[],to:S};let G=t.slice(A,Math.min(S,A+R)),ie=c.t==="element"?G:t.slice(A,A+R);return{r:rt(G,{f:a,t:E,h:ie})?[{n:At(e.e),from:A,to:S}]:[],to:S}}function St(t,e){let n=t.slice(Math.max(0,e-L),e),s=n.slice(n.lastIndexOf(`
`)+1);return s.length-s.trimStart().length}var V={capitals:()=>/[A-Z0-9]*/y,hex:()=>/[A-Fa-f0-9]*/y,letters:()=>/[A-Za-z0-9]*/y,words:()=>/\w*/y,dashed:()=>/[\w-]*/y,dotted:()=>/[\w.-]*/y,slashed:()=>/[\w/+-]*/y,base64:()=>/[\w+/=-]*/y,all:()=>/[\w+/=.~:$|%!@-]*/y},k=512,v=8e3,Rt={capitals:`aws 16-16 AKIA ASIA ABIA ACCA
age 50 AGE-SECRET-KEY-1 AGE-SECRET-KEY-PQ-1
octopus 25-32 API-
upcloud 26-26 ucat_
pinterest 30 pina_
nats 56-56 SU SA`,hex:`firecrawl 32-32 fc-
e2b 32 e2b_
elevenlabs 40 sk_
mailgun 32-32 key-
twilio 32-32 SK
digitalocean 60 dop_v1_ doo_v1_ dor_v1_
pulumi 40 pul-
exoscale 24-24 EXO
rubygems 40 rubygems_
shippo 32 shippo_live_ shippo_test_
lob 35 live_ test_
inngest 32 signkey-prod- signkey-test-
depot 60 depot_org_ depot_project_
checkly 32-32 cu_
pipedream 32-32 pd_
kaggle 32-32 KGAT_
cursor 60 crsr_
token 28-128 key_
infura 32-32 infura.io/v3/
hcaptcha 32-32 ES_`,letters:`adafruit 28-28 aio_
github 20 ghp_ gho_ ghu_ ghr_
gitlab 32 _gitlab_session=
npm 30 npm_
openai 40 sess-
huggingface 30 hf_ api_org_
groq 40 gsk_
xai 40 xai-
perplexity 32 pplx-
replicate 30 r8_
cerebras 32 csk-
fireworks 20 fw_
anyscale 20 esecret_
runpod 30 rpa_
apify 30 apify_api_
modal 22-22 ak- as-
shopify 30 shpat_ shpca_ shppa_ shpss_ shptka_ shprka_
vault 24-24 s.
neon 40 napi_
clickhouse 38-38 4b1d
materialize 40 mzp_
linear 32 lin_api_ lin_oauth_ lin_wh_
notion 40 ntn_
notion 40 secret_
trello 60 ATTA
readme 60 rdme_
datadog 30 ddp_ ddapp_ pub_dd
honeycomb 30 hcaik_ hcbik_ hcxik_ hcalk_ hcxlk_ hcamk_ hcxmk_
sonar 36 squ_ sqp_ sqa_
buildkite 36 bkua_ bkat_ bkct_ bkpt_
netlify 30 nfp_ nfc_ nfo_ nfu_ nfb_
render 24 rnd_
deno 30 ddo_ ddw_
valtown 20 vtwn_
prefect 30 pnu_ pnb_
alibaba 16-26 LTAI
tencent 32-36 AKID
jfrog 60 AKCp
jfrog 55 cmVmd
nuget 43-43 oy2
crates 32-32 cio
clojars 50 CLOJARS_
facebook 80 EAA
easypost 54 EZAK EZTK
razorpay 14 rzp_live_ rzp_test_
twitch 30-30 oauth:
settlemint 16 sm_pat_ sm_aat_ sm_sat_
polar 24 polar_oat_ polar_pat_
chromatic 12 chpt_
cal 20 cal_live_ cal_test_
unkey 16 unkey_
trigger 16 tr_prod_ tr_dev_ tr_stg_ tr_preview_ tr_pat_
onesignal 80 os_v2_app_ os_v2_org_
ntfy 29-29 tk_
descope 50-54 K2
arcjet 26 ajkey_
cartesia 20 sk_car_
alchemy 30 alcht_
courier 28-28 pk_prod_
honeybadger 30 hbp_`,words:`github 20 github_pat_
langchain 20 lsv2_pt_ lsv2_sk_ ls__
pinecone 30 pcsk_ pckey_
wandb 40 wandb_v1_
resend 24 re_
posthog 30 phc_ phx_ phs_ pha_ phr_
grafana 32 glsa_
sourcegraph 36 sgp_ slk_ sgd_
circleci 30 CCIPAT_ CCIPRJ_
vercel 24 vcp_ vci_ vca_ vcr_ vck_ vercel_blob_rw_
cloudflare 36 cfut_ cfat_ cfk_
clickup 36-46 pk_
paddle 40 pdl_live_apikey_ pdl_sdbx_apikey_
cockroach 40 CCDB1_
telnyx 50 KEY0`,dashed:`stripe 10 sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_ sk_org_live_ sk_sbox_ whsec_test_
aws 32 amzn.mws. amzn1.oa2-cs.v1.
pypi 40 pypi-
nvidia 40 nvapi-
tavily 20 tvly-
jina 40 jina_
together 30 tgp_v1_
voyage 40 pa-
brave 27-28 BSA
slack 10 xoxa- xoxb- xoxc- xoxd- xoxe- xoxe.xoxp- xoxe.xoxb- xoxo- xoxp- xoxr- xoxs- xapp- xwfp-
google 35 AIza
google 24 GOCSPX-
google 40 1//0
brevo 40 xkeysib- xsmtpsib-
vault 20 hvs. hvb. hvr.
docker 20 dckr_pat_ dckr_oat_
databricks 32-34 dapi dkea dose
supabase 20 sbp_ sb_secret_
mongodb 30 mdb_sa_sk_
figma 30 figd_ figu_ figo_ figdr_ figur_
postman 26 PMAK- PMAT-
contentful 30 CFPAT-
hubspot 36 pat-na1- pat-na2- pat-na3- pat-eu1- pat-ap1-
newrelic 15 NRAK- NRII- NRJS- NRRA- NRSP- NRIQ- NRBR- NRAA-
axiom 30 xaat- xapt- xait-
launchdarkly 36-36 sdk- api-
segment 36 sgp_v1_
tailscale 20 tskey-
heroku 36 HRKU-
fly 40 fo1_
cloudflare 100 v1.0-
openshift 43-43 sha256~
1password 33-34 A3-
adobe 32 p8e-
yandex 35-38 AQVN
yandex 40 y0_
square 20 sq0atp- sq0csp- sq0idp-
square 54-64 EAAA
instagram 60 IGQVJ IGAA IGQWR
plaid 36 access-sandbox- access-development- access-production-
flutterwave 12 FLWSECK- FLWSECK_TEST- FLWSECK_LIVE-
pubnub 36 sec-c-
defined 70 dnkey-
scalingo 40 tk-us- tk-eu-
commonplace 49-49 cp_
stytch 30 secret-live- secret-test-
svix 30 testsk_
fauna 36-40 fnA
luma 60 luma-
helicone 28 sk-helicone-
alchemy 32-32 alchemy.com/v2/
loggly 36-36 loggly.com/inputs/
browserbase 20 bb_live_ bb_test_
secret-key 40 sk_prod_ sk_`,dotted:`zoho 60-70 1000.
github 20 ghs_
gitlab 16 glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glsoat- glagent- glffct- glimt- gloas- glwt- GR1348941
anthropic 20 sk-ant-
openai 20 sk-
google 20 ya29.
sendgrid 40 SG.
dbt 30 dbtc_ dbtu_ dbts_
doppler 40 dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit. dp.said.
tinybird 40 p.eyJ
typeform 40 tfp_
dynatrace 40 dt0c01. dt0s01. dt0s02. dt0s03. dt0s06. dt0s08. dt0s16.
infisical 60 st.
harness 60 pat. sat.
dropbox 60 sl.
mapbox 60 sk.eyJ tk.eyJ
n8n 40 n8n_api_
onfido 30 api_live. api_sandbox. api_live_us. api_live_eu. api_live_ca.
nebius 100 v1.C
zep 60 z_1dWlkIjoi`,slashed:`slack 20 hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/
discord 40 discord.com/api/webhooks/ discordapp.com/api/webhooks/
zapier 12 hooks.zapier.com/hooks/catch/
backblaze 28-28 K00
bitbucket 40 BBDC-
tigris 40 tsec_`,base64:`aws 60 ABSK bedrock-api-key-
stripe 24 whsec_
aiven 15 AVNS_ aivenv1
confluent 60-60 cflt
atlassian 24 ATATT3 ATCTT3 ATBB ATSTT3
intercom 50 dG9rO
frameio 40 fio-u-
sentry 40 sntrys_ sntryu_ sntrya_
grafana 32 glc_
grafana 40 eyJrIjoi
fly 60 fm1a_ fm1r_ fm2_
1password 100 ops_eyJ
adyen 80 AQE
private-key 60 LS0tLS1CRUdJTiBSU0Eg LS0tLS1CRUdJTiBQUklW LS0tLS1CRUdJTiBFQyBQ LS0tLS1CRUdJTiBPUEVO LS0tLS1CRUdJTiBFTkNS
duffel 30 duffel_live_ duffel_test_
gocardless 40-40 live_ sandbox_
portainer 40 ptr_
cloudflare 100 eyJhIjoi`,all:`microsoft 60 webhook.office.com/webhookb2/ outlook.office.com/webhook/
planetscale 32 pscale_tkn_ pscale_oauth_ pscale_pw_
airtable 79-79 pat
salesforce 60 00D
yandex 80 t1.
braintree 30 access_token$production$ access_token$sandbox$
twitter 30 AAAAAAAAAAAAAAAAAAAAA
authress 60 sc_ ext_ scauth_ authress_
rancher 50 kubeconfig-
facebook 40 GG|
astra 60 AstraCS:
evervault 40 ev:key:`},Ot=new Set("openai anthropic pypi voyage tavily rancher resend langchain jina".split(" ")),Nt=new Set(["sendgrid","harness","airtable","authress"]),z=new Map;for(let[t,e]of Object.entries(Rt))for(let n of e.split(`
`)){let[s="",r="",...o]=n.split(" "),[i,c=v]=r.split("-").map(Number),a=Ot.has(s)?"part":Nt.has(s)?"dot":null;for(let l of o)z.set(l,[...z.get(l)??[],{n:s,$:t,o:i,i:c,T:a}])}var xt=2,$t=t=>t.replace(/[.\\/$|]/g,"\\$&"),b=new RegExp([...[...z.keys()].sort((t,e)=>e.length-t.length).map($t),"eyJ","\\dQ~",":[A-Z]","\\.(?=[\\w-]{6}\\.)","\\.atlasv1\\.","\\|(?=[A-Za-z0-9]{48})","-us\\d","NRAL","_mmk","JQQJ99|AZDO|\\+ASt|AzSe|AzCa|ACDb|AzFu|AIoT","(?:[Bb]earer|BEARER|[Bb]asic|BASIC)(?:\\s|%20)+",":\\\\?/\\\\?/","-----BEGIN "].join("|"),"g");function Q(t){let e=[];for(let n=t.length;n>=xt;n--)for(let s of z.get(t.slice(0,n))??[])e.push({t:s,I:n});return e}var Tt=/(?:\\[a-z]|\\x[0-9a-f]{2}|\\u[0-9a-f]{4}|%[0-9a-f]{2}|\[[0-9;]{0,9}m)$/i,It=12;function M(t,e){let n=t[e-1];return n===void 0||!/[A-Za-z0-9]/.test(n)?!0:Tt.test(t.slice(Math.max(0,e-It),e))}var zt="curl wget https http xh sshpass mysqldump mysqladmin mysqlimport mysqlshow mysql mariadb-dump mariadb redis-cli unzip zip 7za 7z ldapsearch ldapmodify ldapadd ldapwhoami smbclient mongosh mongodump mongorestore mongoexport mongoimport mongo sqlcmd lftp ftp mosquitto_pub mosquitto_sub rabbitmqadmin etcdctl openssl htpasswd",Ct="docker podman nerdctl skopeo buildah az oc cf",Lt=new RegExp(`(?<![\\w.-])(?:${zt.replaceAll(" ","|")}|helm registry login|(?:${Ct.replaceAll(" ","|")}) login)(?=[ \\t])`,"g"),vt=400,se=`(?:"([^"\\n]{1,128})"|'([^'\\n]{1,128})'|([^\\s"'\`]{1,256}))`,Mt=new RegExp(`(?:^|\\s)(?:-u|-U|--user|--proxy-user|-a|--auth)(?:[ \\t=]+|(?=[^\\s-]))${se}`,"g"),h=(t,e)=>new RegExp(`(?:^|\\s)(?:${t})${e}${se}`,"g"),Dt=[[/^sshpass/,h("-p","[ \\t]*")],[/^(?:mysql|mariadb)/,h("-p","")],[/login$/,h("-p","[ \\t]+")],[/^redis-cli/,h("-a","[ \\t]+")],[/^(?:zip|unzip|mosquitto|sqlcmd)/,h("-P","[ \\t]*")],[/^7z/,h("-p","")],[/^ldap/,h("-w","[ \\t]+")],[/^(?:mongo|rabbitmqadmin)/,h("-p","[ \\t]+")],[/^openssl/,h("-pass(?:in|out)?","[ \\t]+pass:")],[/^htpasswd/,h("-\\w*b\\w*","[ \\t]+\\S+[ \\t]+\\S+[ \\t]+")]],Zt=/^(?:curl|etcdctl|wget|https?|xh|smbclient|lftp|ftp)$/;function Y(t,e){let n=t[1]??t[2]??t[3]??"";return{value:n,from:e+t.index+t[0].length-n.length-(t[3]===void 0?1:0)}}var H=4;function*Gt(t,e,n){if(Zt.test(t)){for(let r of e.matchAll(Mt)){let{value:o,from:i}=Y(r,n),c=o.search(/[:%]/),a=o.slice(c+1);c<0||a.length<H||o.startsWith("//",c+1)||a===o.slice(0,c)||_(a,a)||(yield{n:"password",from:i+c+1,to:i+o.length})}return}let s=Dt.find(([r])=>r.test(t))?.[1];if(s!==void 0)for(let r of e.matchAll(s)){let{value:o,from:i}=Y(r,n);o.length<H||_(o,o)||(yield{n:"password",from:i,to:i+o.length})}}var Bt=new RegExp(String.raw`(?<=(?:^|[\n;&|${"`"}$#>])[ \t]{0,20}(?:[a-z][\w-]{1,20}[ \t]{1,5}){1,3}`+String.raw`(?:login|auth|(?:add-)?authtoken|unseal|token)[ \t]{1,5}["']?)`+String.raw`[\w.+/=:-]{20,256}(?=["']?[ \t]{0,5}(?:$|[\r\n;&|${"`"}]))`,"g"),Pt=/(?<=(?:\bnew (?!Set|Map|Intl|Date|RegExp)[A-Z][\w.]{0,40}|\b\w{0,40}Client\w{0,9})\(\s{0,9}["'])[\w.:-]{20,128}(?=["'])/g,Kt=/(?<=(?:^|[\s"'`])[\w.*-]{1,80}:(?:\d{4,5}|\*):[\w*-]{1,64}:[\w-]{1,64}:)[^\s:"'`]{8,128}/g,re=t=>/[a-z]/.test(t)&&/[A-Z]/.test(t)&&!g(t),X=t=>re(t)||/^\D*\d\D*\d/.test(t)&&/[A-Za-z]/.test(t)&&!g(t),Ft=[["token",Bt,X],["token",Pt,re],["password",Kt,X]],qt=Ft.map(([t,e,n])=>function*(s){for(let{0:r,index:o}of s.matchAll(e))n(r)&&!_(r,r)&&(yield{n:t,from:o,to:o+r.length})});function*jt(t){let e=0;for(let{0:n,index:s}of t.matchAll(Lt)){if(s<e)continue;let r=s+n.length,o=t.slice(r,r+vt),i=/(?<!\\)\r?\n/.exec(o)?.index??o.length;yield*Gt(n,o.slice(0,i),r),e=r+i}}var D=8e3,Wt=64,Ut=2e4,Jt=80,ee=/(?:\\[nrt]|[\s"'+\\]){0,40}(?:[A-Za-z0-9+/=]{16}|[A-Z][A-Za-z-]{1,20}: )/y;function te(t,e){let n=t.slice(e,e+Jt),s=n.indexOf("-----");return s<0?null:n.slice(0,s)}var Vt=t=>t.length<40&&!/\d/.test(t)&&(t.split(/[^A-Za-z]+/).every(e=>/^(?:[A-Z]?[a-z]*|[A-Z]*)$/.test(e))||g(t)),Qt=/^(?:\$?\{.*\}|\$\w+|\$?\(.*\)|<.*>|\[.*\]|%\w+%|[*.…]+|x+)$/i,Yt=/^(?:(?:my|your|db|the)?[-_]?(?:passw(?:or)?d|pass|pwd?|secret|token|example)|change.?me)$/i,Ht=/^@(?:localhost|127\.0\.0\.1|host\.docker\.internal|db|database|postgres|mysql|redis)(?::|$)/,ne=48,Xt=/^\$?\{[^{}]*\}/,en=/[\n\r\u2028\u2029]/,tn=/^(?=[^A-Za-z]*[A-Za-z])(?=\D*\d).*[\w~+=]{16}/,nn=[{n:"telegram",c:/^:[A-Z]$/,l:/(?<!\d)\d{8,11}$/,u:12,p:"dashed",o:31,i:36},{n:"laravel",c:/^\|$/,l:/(?<!\w)\d{1,7}$/,u:9,p:"letters",o:48,i:48},{n:"discord",c:/^\.$/,l:/(?<![\w-])[MNO][\w-]{22,27}$/,u:30,p:"dotted",o:33,i:48},{n:"terraform",c:/^\.atlasv1\.$/,l:/(?<!\w)[A-Za-z0-9]{14}$/,u:15,p:"base64",o:40,i:90},{n:"mailchimp",c:/^-us\d$/,l:/(?<![a-z0-9])[a-f0-9]{32}$/,u:33,p:"letters",o:0,i:1},{n:"newrelic",c:/^NRAL$/,l:/(?<!\w)[a-f0-9]{36}$/,u:37,p:"letters",o:0,i:0},{n:"maxmind",c:/^_mmk$/,l:/(?<!\w)[A-Za-z0-9]{6}_[A-Za-z0-9]{29}$/,u:37,p:"letters",o:0,i:0},{n:"azure",c:/^(?:JQQJ99|AZDO|Az..|\+ASt|ACDb|AIoT)$/,l:/(?<![\w+/])[\w+/]{32,76}$/,u:78,p:"base64",o:4,i:46}],sn=9,Z=class{constructor(e){this.e=e;this.m=new w(e,/\d/g),this.part=new w(e,/(?<![A-Za-z0-9])(?=[A-Za-z]*\d|[A-Za-z]*[A-Z]{2}[a-z]|[A-Za-z]*[a-z][A-Z][a-z][A-Z])[A-Za-z0-9]{16,}/g),this.dot=new w(e,/\./g),this.y=new f(e,/[\w-]*/y),this.b=new f(e,/[\w-]*/y),this.A=new f(e,/[\w-]*/y),this.w=new f(e,/[\w.~+/=!%-]*/y),this.k=new f(e,/[^\s/?#'"`<>\\]*/y),this.E=new f(e,/[\w.~-]*/y)}text;_=new Map;m;part;dot;y;b;A;w;k;E;S=null;R=-1;O=!1;z(e,n){let s=n.length>sn?void 0:nn.find(({c:o})=>o.test(n));if(s!==void 0)return this.C(e,e+n.length,s);if(n.startsWith(":"))return this.L(e+n.length);if(n.startsWith("-----"))return this.v(e);if(n.endsWith("Q~"))return this.M(e);if(!M(this.e,e))return null;if(n==="eyJ")return this.D(e);let r=Q(n);if(r.length===0)return this.Z(e+n.length,en.test(n));for(let{t:o,I:i}of r){let c=this.G(e,e+i,o);if(c!==null)return c}return null}N(e){let n=this._.get(e);return n===void 0&&(n=new f(this.e,V[e]()),this._.set(e,n)),n}x(e,n){let s=Math.max(e,n-Wt);for(;n>s&&".:".includes(this.e[n-1]);)n--;return n}G(e,n,{n:s,$:r,o,i,T:c}){let a=Math.min(this.N(r).a(n),n+v);return a=this.x(n,a),a-n<o||a-n>i||c!==null&&!this[c].g(n,a)&&!(c==="part"&&this.B(n,a))?null:this.P(n,a)?{n:s,from:e,to:a}:null}B(e,n){let s=this.e.slice(e,Math.min(n,e+ne));return/^\D*\d\D*\d\D*\d/.test(s)&&/^[^A-Z]*[A-Z][^A-Z]*[A-Z]/.test(s)&&/[a-z]/.test(s)&&!g(s)}P(e,n){return this.m.g(e,n)?!0:(this.R!==n&&(this.R=n,this.O=g(this.e.slice(e,Math.min(n,e+ne)))),!this.O)}C(e,n,s){let{n:r,l:o,u:i,p:c,o:a,i:l}=s;if(!(r==="telegram"?/\d/:/\w/).test(this.e[e-1]??""))return null;let u=this.N(c).a(n);if(u=this.x(n,u),u-n<a||u-n>l)return null;let d=o.exec(this.e.slice(Math.max(0,e-i),e))?.[0];return d===void 0?null:{n:r,from:e-d.length,to:u}}M(e){let n=e-3;if(n<0||!/^[\w.~-]{3}$/.test(this.e.slice(n,e))||!M(this.e,n))return null;let s=this.E.a(e+3);return s-e<34||s-e>43?null:{n:"azure",from:n,to:s}}D(e){let{e:n}=this,s=this.y.a(e);if(s-e<8||s-e>k||!n.startsWith(".eyJ",s))return null;let r=this.b.a(s+1);if(r-s<9||r-s>D||n[r]!==".")return null;let o=Math.min(this.A.a(r+1),r+1+D);return o-r<6?null:{n:"jwt",from:e,to:o}}Z(e,n){let s=Math.min(this.w.a(e),e+D);return s-e<8||Vt(this.e.slice(e,Math.min(s,e+40)))||n&&!tn.test(this.e.slice(e,Math.min(s,e+k)))?null:{n:"authorization",from:e,to:s}}L(e){let{e:n}=this,s=this.k.a(e),r=s-1;for(;r>e&&n[r]!=="@";)r--;let o=e+(Xt.exec(n.slice(e,Math.min(r,e+k)))?.[0].length??0);for(;o<r&&n[o]!==":";)o++;o++;let i=n.slice(o,Math.min(r,o+k));return o>=r||Qt.test(i)||Yt.test(i)||n.startsWith(`${i}:`,e)&&Ht.test(n.slice(r,s))?null:{n:"password",from:o,to:r}}v(e){let n=te(this.e,e+11);if(n===null||!n.includes("PRIVATE KEY"))return null;this.S??=this.K();let s=this.F(this.S.get(n),e);return s!==null&&s-e<=Ut?{n:"private-key",from:e,to:s}:(ee.lastIndex=e+11+n.length+5,ee.test(this.e)?{n:"private-key",from:e,to:s??this.e.length}:null)}K(){let e=new Map;for(let{index:n}of this.e.matchAll(/-----END /g)){let s=te(this.e,n+9);if(s===null||!s.includes("PRIVATE KEY"))continue;let r=n+9+s.length+5,o=e.get(s);o===void 0?e.set(s,[r]):o.push(r)}for(let n of e.values())n.reverse();return e}F(e,n){for(;e?.length&&e.at(-1)<=n;)e.pop();return e?.at(-1)??null}},rn=/[_-][A-Za-z0-9]{30,}/g,on=/(?<![\w/+=.-])[A-Za-z][A-Za-z0-9]{1,15}(?:[_-][A-Za-z0-9]{1,8}){0,3}$/,an=52,cn=/^[0-9a-f]{30}/,ln=/^(?:sha\d|md5|commit|chunk|index|asset|file|img|image|etag|msg|call|toolu|req|chatcmpl)/i;function*un(t){for(let{0:e,index:n}of t.matchAll(rn)){let s=e.slice(1,k);if(cn.test(s)||!/[a-z]/.test(s)||!/[A-Z]/.test(s)||g(s))continue;let r=on.exec(t.slice(Math.max(0,n-an),n))?.[0];r===void 0||ln.test(r)||/[\w+/=]/.test(t[n+e.length]??"")||(yield{n:"token",from:n-r.length,to:n+e.length})}}function*pn(t){let e=new Z(t),n=0;b.lastIndex=0;for(let s=b.exec(t);s!==null;s=b.exec(t)){let r=e.z(s.index,s[0]);b.lastIndex=s.index+1,!(r===null||r.from<n)&&(n=r.to,b.lastIndex=n,yield r,b.lastIndex=n)}}function dn(t,e,n){let s="",r=0;for(let{n:o,from:i,to:c}of e){let a=t.slice(i,c).replace(/[^\n]/g,"");s+=`${t.slice(r,i)}[redacted:${o}]${a}`,n?.add(o),r=c}return s+t.slice(r)}function oe(t,e){return[pn,jt,...qt,J,un].reduce((s,r)=>dn(s,r(s),e),t)}secretRules.redact=oe;})();


import { realpathSync as realpathSync2 } from "node:fs";
import { homedir } from "node:os";
import { fileURLToPath } from "node:url";

import { createHash } from "node:crypto";
var isFields = (value) => typeof value == "object" && value !== null && !Array.isArray(value), jsonIn = (text) => JSON.parse(text.replace(/^\uFEFF/, "")), textOf = (fields, ...names) => names.map((name) => fields?.[name]).find((value) => typeof value == "string" && value !== "");
function clientOf(argument, event, env) {
  return env.CURSOR_VERSION ? "cursor" : env.COPILOT_CLI ? "copilot" : argument === "claude-code" && event.timestamp !== void 0 && event.permission_mode === void 0 ? "vscode" : argument;
}
var KINDS = {
  sessionstart: "start",
  "session.created": "start",
  userpromptsubmit: "prompt",
  userpromptsubmitted: "prompt",
  beforesubmitprompt: "prompt",
  "chat.message": "prompt",
  posttooluse: "tool",
  posttoolusefailure: "tool",
  aftershellexecution: "tool",
  afterfileedit: "tool",
  "tool.execute.after": "tool",
  subagentstart: "agent"
}, nameOf = (event) => textOf(event, "hook_event_name", "hookEventName", "hook") ?? "", kindOf = (event) => KINDS[nameOf(event).toLowerCase()] ?? "other", CHANGES = /edit|write|creat|replace|insert|patch|delete|remove|rename|move|notebook/i, RUNS = /bash|shell|terminal|exec|command|run|cmd/i, runsCommands = (tool) => RUNS.test(tool), toolOf = (event) => textOf(event, "tool_name", "toolName") ?? textOf(event.input, "tool") ?? "", isOwnTool = (tool) => /(?:commonplace[^a-z].{0,40}|^mcp:)(?:fetch|forget|remember|update)$/i.test(tool);
function isWorkOf(event) {
  if (/^after(Shell|File)/.test(nameOf(event))) return !0;
  let tool = toolOf(event);
  return isOwnTool(tool) || !/^mcp(__|_|:)/i.test(tool) && (CHANGES.test(tool) || RUNS.test(tool));
}
var sessionOf = (client, event) => (client === "cursor" ? textOf(event, "conversation_id", "session_id") : textOf(event, "session_id", "sessionId", "conversation_id")) ?? textOf(event.session, "id") ?? "", OF_CURSOR = {
  SessionStart: "sessionStart",
  UserPromptSubmit: "beforeSubmitPrompt",
  PostToolUse: "postToolUse",
  PostToolUseFailure: "postToolUseFailure",
  PreCompact: "preCompact",
  Stop: "stop",
  SessionEnd: "sessionEnd"
};
function canonical(value) {
  return Array.isArray(value) ? `[${value.map(canonical).join(",")}]` : isFields(value) ? `{${Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(",")}}` : JSON.stringify(value) ?? "null";
}
function idOf(client, event) {
  let given2 = nameOf(event), name = client === "cursor" ? OF_CURSOR[given2] ?? given2 : given2, kind = kindOf(event), call = kind === "tool" ? textOf(event, "tool_use_id", "toolUseId") ?? textOf(event.input, "callID") : void 0, prompt = kind === "prompt" ? textOf(event, "prompt_id", "turn_id", "generation_id") ?? textOf(event.input, "messageID") ?? textOf(event.output?.message, "id") : void 0, rest = call ?? prompt ?? canonical({ ...event, hook_event_name: name });
  return createHash("sha256").update(JSON.stringify([sessionOf(client, event), name, rest])).digest("hex");
}

var MOST_EVENTS = 200, MOST_BYTES = 262144, LARGEST_ANSWER = 1048576, NoAnswer = class extends Error {
  /** @param {string} message @param {number} [status] */
  constructor(message, status) {
    super(message), this.status = status;
  }
};
async function post(url, { key, body, until, headers = {} }) {
  let { request } = await (url.startsWith("https:") ? import("node:https") : import("node:http"));
  return new Promise((resolve2, reject) => {
    let fail = (message) => {
      clearTimeout(timer), sent.destroy(), reject(new NoAnswer(message));
    }, timer = setTimeout(() => fail("no response in time"), Math.max(0, until - Date.now())), sent = request(url, {
      method: "POST",
      agent: !1,
      headers: {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
        ...key === "" ? {} : { authorization: `Bearer ${key}` },
        ...headers
      }
    });
    sent.on("error", (error) => fail(error.message)), sent.on("response", (response) => {
      let pieces = [], size = 0;
      response.on("data", (piece) => {
        pieces.push(piece), size += piece.length, size > LARGEST_ANSWER && fail("its response is too long");
      }), response.on("error", (error) => fail(error.message)), response.on("aborted", () => fail("its response was cut off")), response.on("end", () => {
        if (clearTimeout(timer), !response.complete) return fail("its response was cut off");
        let type = String(response.headers["content-type"] ?? "");
        resolve2({ status: response.statusCode ?? 0, text: Buffer.concat(pieces).toString("utf8"), type });
      });
    }), sent.end(body);
  });
}
function readAnswer(text) {
  try {
    let answer = JSON.parse(text);
    return isFields(answer) && typeof answer.stored == "number" ? answer : null;
  } catch {
    return null;
  }
}
function batchOf(spool, names) {
  let batch = [], bytes = 100;
  for (let name of names) {
    let record = spool.read(name);
    if (record === null) continue;
    let size = Buffer.byteLength(JSON.stringify(record)) + 1;
    if (batch.length > 0 && batch[0].record.client !== record.client || batch.length === MOST_EVENTS || batch.length > 0 && bytes + size > MOST_BYTES) break;
    batch.push({ name, record }), bytes += size;
  }
  return batch;
}
function senderTo({ spool, url, key, until, hear: hear2 }) {
  let told = Math.min(spool.state().toldLost ?? 0, spool.lost()), hasAnswered = !1;
  async function ask(records, answer) {
    let lost = spool.lost(), events = records.map(({ id, at, event, place }) => ({ id, at, event, place })), body = JSON.stringify({
      events,
      ...answer ? { answer } : {},
      ...lost > told ? { lost: lost - told } : {}
    }), { status, text } = await post(`${url}/api/v1/hooks/${records[0].client}`, { key, body, until });
    if (status === 400 || status === 413) return null;
    if (status < 200 || status > 299) throw new NoAnswer(`it answered ${status}`, status);
    let read3 = readAnswer(text);
    if (read3 === null) throw new NoAnswer("it is not a Commonplace server");
    return told = lost, hasAnswered = !0, hear2(read3, records), read3;
  }
  async function deliver(batch) {
    let answer = await ask(batch.map(({ record }) => record));
    if (answer !== null) for (let { name } of batch) spool.remove(name);
    else if (batch.length === 1) spool.lose(batch[0].name);
    else {
      let middle = Math.ceil(batch.length / 2);
      await deliver(batch.slice(0, middle)), await deliver(batch.slice(middle));
    }
    return answer;
  }
  return {
    ask,
    /** Sends all waiting events, oldest first, until the time is up. @returns the server's messages */
    async waiting() {
      let notice;
      for (; ; ) {
        let batch = batchOf(spool, spool.names());
        if (batch.length === 0) return notice;
        notice = (await deliver(batch))?.notice ?? notice;
      }
    },
    /** Lost events known to the server. */
    told: () => told,
    /** Whether the server responded: then unsent events wait without a message to the user. */
    hasAnswered: () => hasAnswered
  };
}

import { readFileSync } from "node:fs";
import { join } from "node:path";
var DEFAULT_URL = "http://localhost:8787", given = (value) => typeof value == "string" && !value.includes("${") ? value.trim() : "";
function serverOf(text) {
  try {
    let url = new URL(text);
    return /^https?:$/.test(url.protocol) ? `${url.origin}${url.pathname.replace(/\/mcp(\/.*)?$/, "").replace(/\/+$/, "")}` : null;
  } catch {
    return null;
  }
}
function configured(home) {
  try {
    let config = jsonIn(readFileSync(join(home, ".commonplace", "config.json"), "utf8"));
    return [config?.url, config?.key];
  } catch {
    return [];
  }
}
var CALLED = { plugin: "the plugin's url", variable: "COMMONPLACE_URL", file: "~/.commonplace/config.json" };
function settingsOf(env, home) {
  let places = {
    plugin: () => [env.CLAUDE_PLUGIN_OPTION_URL, env.CLAUDE_PLUGIN_OPTION_KEY],
    variable: () => [env.COMMONPLACE_URL, env.COMMONPLACE_KEY],
    file: () => configured(home)
  }, flaw = null;
  for (let [from, place] of Object.entries(places)) {
    let [named, key] = place(), url = serverOf(given(named));
    if (url !== null) return { url, key: given(key).replace(/^Bearer\s*/i, ""), from, flaw };
    given(named) !== "" && (flaw ??= `${CALLED[from]} is not a URL that starts with http:// or https://`);
  }
  return { url: DEFAULT_URL, key: "", from: "default", flaw };
}

var LONGEST_CALL_MS = 6e4, LONGEST_LIST_MS = 5e3, LONGEST_END_MS = 800, VERSION = "2025-06-18", VERSIONS = [VERSION, "2025-11-25", "2025-03-26", "2024-11-05"];
function messageIn({ text, type }) {
  if (!type.includes("text/event-stream")) return objectIn(text);
  let data = text.split(/\r?\n\r?\n/).flatMap((event) => {
    let lines = event.split(/\r?\n/).filter((line) => line.startsWith("data:"));
    return lines.length === 0 ? [] : [lines.map((line) => line.slice(5).trimStart()).join(`
`)];
  });
  return objectIn(data.at(-1) ?? "");
}
function objectIn(text) {
  try {
    let value = JSON.parse(text);
    return isFields(value) ? value : null;
  } catch {
    return null;
  }
}
async function bridge({ env, home, input, write: write2 }) {
  let { url, key } = settingsOf(env, home), open = /* @__PURE__ */ new Set(), version = VERSION, say = (message) => write2(`${JSON.stringify(message)}
`), refuse = (id, code, message, data) => say({ jsonrpc: "2.0", id, error: { code, message, data } });
  async function forward(message) {
    try {
      let headers = { accept: "application/json, text/event-stream", "mcp-protocol-version": version }, until = Date.now() + (message.method === "tools/call" ? LONGEST_CALL_MS : LONGEST_LIST_MS), answer = await post(`${url}/mcp/core`, { key, body: JSON.stringify(message), until, headers });
      if (message.id === void 0) return;
      if (answer.status === 401 || answer.status === 403) return refuse(message.id, -32001, `${url} refuses the key`);
      let said = messageIn(answer);
      if (said?.id === message.id) return say(said);
      let { message: why = `${url} answered ${answer.status}`, data } = isFields(said?.error) ? said.error : {};
      refuse(message.id, -32e3, why, data);
    } catch (error) {
      message.id !== void 0 && refuse(message.id, -32e3, `cannot reach ${url}: ${error.message}`);
    }
  }
  function take(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      return refuse(null, -32700, "no JSON");
    }
    if (!isFields(message)) return refuse(null, -32600, "no request");
    if (message.method === "initialize") {
      let offered = message.params?.protocolVersion;
      version = VERSIONS.includes(offered) ? offered : VERSION;
      let serverInfo = { name: "commonplace", version: "1.0.0" };
      return say({
        jsonrpc: "2.0",
        id: message.id,
        result: { protocolVersion: version, capabilities: { tools: {} }, serverInfo }
      });
    }
    if (message.method === "ping") return say({ jsonrpc: "2.0", id: message.id, result: {} });
    if (typeof message.method != "string" || message.method.startsWith("notifications/")) return;
    let work = forward(message).finally(() => open.delete(work));
    open.add(work);
  }
  let rest = "";
  input.setEncoding("utf8");
  for await (let piece of input) {
    let lines = `${rest}${piece}`.split(`
`);
    rest = lines.pop() ?? "";
    for (let line of lines) line.trim() !== "" && take(line);
  }
  rest.trim() !== "" && take(rest), await Promise.race([Promise.all(open), new Promise((done) => setTimeout(done, LONGEST_END_MS))]);
}

import { createHash as createHash2 } from "node:crypto";
import { join as join2 } from "node:path";

// ../../src/domain/entry/compare-citation.ts
var searchBudget = (left = 4e7) => ({ left });
var bareLines = (text) => text.replace(/\r?\n$/, "").split(/\r\n|\n|\r/).map((line) => line.replace(/\s+/g, "")), bounds = (lines) => {
  let [from = "", to = from] = lines.split("-");
  return [Number(from), Number(to)];
}, rangeOf = (from, to) => from === to ? `${from}` : `${from}-${to}`;
function hashOf(lines, bare, sha2562) {
  let [from, to] = bounds(lines), text = bare.slice(from - 1, to).join("");
  return to > bare.length || text === "" ? null : sha2562(text);
}
function filledRange(bare, from, end) {
  let [first2, last2] = [from, end - 1];
  for (; bare[first2] === ""; ) first2++;
  for (; bare[last2] === ""; ) last2--;
  return rangeOf(first2 + 1, last2 + 1);
}
var NEIGHBOR = 20;
function neighbors(lines, bare, sha2562) {
  let [from, to] = bounds(lines), [before, after] = ["", ""];
  for (let i = from - 2; i >= 0 && before.length < NEIGHBOR; i--) before = bare[i] + before;
  for (let i = to; i < bare.length && after.length < NEIGHBOR; i++) after += bare[i];
  return [sha2562(before).slice(0, 8), sha2562(after).slice(0, 8)];
}
function occurrences({ lines, hash }, bare, sha2562, budget = searchBudget()) {
  let [from, to] = bounds(lines), size = to - from + 1, known = /* @__PURE__ */ new Map(), found = /* @__PURE__ */ new Set();
  for (let at = 0; at + size <= bare.length && budget.left > 0; at++) {
    let text = bare.slice(at, at + size).join("");
    if (budget.left -= 100 + size + text.length, text === "") continue;
    let isIt = known.get(text) ?? sha2562(text) === hash;
    known.set(text, isIt), isIt && found.add(filledRange(bare, at, at + size));
  }
  return [...found];
}
var distanceTo = (lines) => (other) => Math.abs(bounds(other)[0] - bounds(lines)[0]);
function chosenFrom(found, citation, bare, sha2562) {
  let [before, after, copies = "1"] = (citation.around ?? "").split(":"), distance = distanceTo(citation.lines), matches = new Map(
    found.map((lines) => {
      let [own, next] = neighbors(lines, bare, sha2562);
      return [lines, +(own === before) + +(next === after)];
    })
  ), of = (lines) => matches.get(lines) ?? 0, [best] = [...found].sort((a, b) => of(b) - of(a) || distance(a) - distance(b));
  return best === void 0 || found.length < Number(copies) && of(best) < 2 ? null : best;
}
function reflowed({ lines, hash }, bare, sha2562, budget) {
  let [from, to] = bounds(lines), size = to - from + 1, filled = bare.flatMap((line, i) => line === "" ? [] : [i]), start = filled.findIndex((i) => i >= from - 1);
  for (let at of byDistance(start < 0 ? filled.length - 1 : start, filled.length)) {
    let text = "";
    for (let end = at; end < Math.min(filled.length, at + 2 * size); end++) {
      if (budget.left <= 0) return null;
      if (text += bare[filled[end]], budget.left -= 100 + text.length, sha2562(text) === hash) return rangeOf(filled[at] + 1, filled[end] + 1);
    }
  }
  return null;
}
function* byDistance(at, end) {
  for (let away = 0; away < Math.max(at, end - at) + 1; away++)
    at - away >= 0 && at - away < end && (yield at - away), away > 0 && at + away >= 0 && at + away < end && (yield at + away);
}
function compareCitation(citation, bare, sha2562, budget = searchBudget()) {
  let { lines, hash, around } = citation, isThere = hashOf(lines, bare, sha2562) === hash;
  if (isThere && (around === void 0 || around.endsWith(":1"))) return { state: "unchanged" };
  let found = occurrences(citation, bare, sha2562, budget), best = found.length === 0 ? reflowed(citation, bare, sha2562, budget) : chosenFrom(found, citation, bare, sha2562);
  if (best === null) return { state: "changed" };
  let [at, own] = [bounds(best), bounds(lines)];
  return isThere && at[0] >= own[0] && at[1] <= own[1] ? { state: "unchanged" } : { state: "moved", lines: best };
}

import { readFileSync as readFileSync2, realpathSync, statSync } from "node:fs";
import { sep } from "node:path";
var [MOST_BYTES2, MOST_COMPARED] = [4e6, 1e6];
function readText(file, most = MOST_BYTES2) {
  let stat = statSync(file);
  if (!stat.isFile() || stat.size > most) throw new Error(`cannot read ${file}`);
  return readFileSync2(file, "utf8");
}
function readInside(root, file) {
  try {
    return realpathSync(file).startsWith(realpathSync(root).replace(/[/\\]?$/, sep)) ? readText(file, MOST_COMPARED) : null;
  } catch {
    return null;
  }
}

var MOST_WORK = 2e7, CLOSE = /<\/commonplace[^>]*>/, sha256 = (text) => createHash2("sha256").update(text).digest("hex");
function hasChanged(root, { path, lines, hash, around }, budget) {
  let text = budget.left > 0 ? readInside(root, join2(root, path)) : null;
  if (text === null) return !1;
  budget.left -= text.length;
  let { state } = compareCitation({ lines, hash, around }, bareLines(text), sha256, budget);
  return state === "changed" && budget.left > 0;
}
function withChanges(output, cited, root) {
  if (output === null || !Array.isArray(cited)) return output;
  let budget = searchBudget(MOST_WORK), changed = cited.filter((one) => typeof one?.path == "string" && hasChanged(root, one, budget));
  if (changed.length === 0) return output;
  let said = `The cited lines have changed since: ${changed.map(({ id, path, lines }) => `[${Number(id)}] ${path.replace(/[<\n]/g, " ")}:${lines}`).join(", ")}. Read the code before you rely on these memories.`, filled = (value) => typeof value == "string" ? value.replace(CLOSE, (end) => `${said}
${end}`) : value !== null && typeof value == "object" && !Array.isArray(value) ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, filled(inner)])) : value;
  return filled(output);
}

// banner:rules
var redact = secretRules.redact;

var LONGEST_TEXT = 4e3, LONGEST_OUTPUT = 500, LONGEST_SECRET = 2e4, MOST_ITEMS = 200, DEEPEST = 8, LARGEST_EVENT = 65536, MARKS = ["private", "commonplace-memory"].map((name) => new RegExp(`<(/?)${name}(?:\\s[^<>]*)?>`, "gi"));
function withoutMarked(text) {
  return MARKS.reduce((rest, mark) => {
    if (!rest.includes("<")) return rest;
    let [kept, depth, from] = ["", 0, 0];
    for (let match of rest.matchAll(mark))
      depth === 0 && (kept += rest.slice(from, match.index)), depth = match[1] === "" ? depth + 1 : Math.max(0, depth - 1), from = match.index + match[0].length;
    return depth === 0 ? kept + rest.slice(from) : kept;
  }, text);
}
var CUT_WORD = /[!-~]{1,512}$/;
function first(text, length) {
  if (text.length <= length) return text;
  let begin = text.slice(0, length);
  return ((/[!-~]/.test(text[length]) ? begin.replace(CUT_WORD, "") : begin) || begin).replace(/[\uD800-\uDBFF]$/, "");
}
var last = (text, length) => text.slice(-length).replace(/^[\uDC00-\uDFFF]/, ""), cleanText = (text, length = LONGEST_TEXT) => {
  let open = withoutMarked(text);
  return first(redact(open.slice(0, length + LONGEST_SECRET)), length);
}, TELLS_CODE = /^.*(?:\bexit ?code\b|\bexited with\b|\bexit status\b|\bcommand not found\b).*$/im;
function endOf(output) {
  let text = withoutMarked(output), end = redact(text.slice(-LONGEST_OUTPUT - LONGEST_SECRET));
  if (text.length <= LONGEST_OUTPUT) return end;
  let head = TELLS_CODE.exec(text.slice(0, -LONGEST_OUTPUT))?.[0] ?? "";
  return `${head === "" ? "" : `${first(redact(head.trim()), 200)}
`}${last(end, LONGEST_OUTPUT)}`;
}
var NAMES_FILE = /^(?:\*\*\* (?:Begin Patch|End Patch|Add File: |Update File: |Delete File: |Move to: )|\+\+\+ )/, isPatch = (text) => /^\*\*\* Begin Patch/m.test(text) || /^(?:diff --git|--- \S)/m.test(text), filesOfPatch = (patch) => cleanText(
  patch.split(`
`).filter((line) => NAMES_FILE.test(line)).join(`
`)
);
function commandText(command) {
  return isPatch(command) ? `${/^\*\*\* Begin Patch/.test(command) ? "" : `${cleanText(command.split(`
`, 1)[0] ?? "", 200)}
`}${filesOfPatch(command)}` : cleanText(command);
}
var PATHS = ["file_path", "filePath", "notebook_path", "path", "target_file", "targetFile"], PATCHES = ["patch", "patchText", "input"], COMMANDS = ["command", "cmd"], LISTS = ["files", "edits", "replacements"];
function toolInput(given2) {
  if (typeof given2 == "string")
    try {
      return toolInput(JSON.parse(given2));
    } catch {
      return isPatch(given2) ? { input: filesOfPatch(given2) } : {};
    }
  if (!isFields(given2)) return {};
  let kept = PATHS.flatMap((name) => textOf(given2, name) ? [[name, cleanText(given2[name])]] : []);
  for (let name of PATCHES) textOf(given2, name) && kept.push([name, filesOfPatch(given2[name])]);
  for (let name of COMMANDS) {
    let command = given2[name];
    typeof command == "string" && kept.push([name, commandText(command)]), Array.isArray(command) && kept.push([
      name,
      command.slice(0, MOST_ITEMS).flatMap((part) => typeof part == "string" ? [commandText(part)] : [])
    ]);
  }
  for (let name of LISTS)
    Array.isArray(given2[name]) && kept.push([
      name,
      given2[name].slice(0, MOST_ITEMS).map((one) => textOf([one], 0) ? cleanText(one) : toolInput(one))
    ]);
  return Object.fromEntries(kept);
}
function ownInput(given2) {
  if (typeof given2 == "string")
    try {
      return ownInput(jsonIn(given2));
    } catch {
      return {};
    }
  let idsIn = (name) => [given2?.[name] ?? []].flat().slice(0, 20).map(Number).filter(Number.isSafeInteger), ids = ["id", "ids", "replaces", "merges"].map((name) => [name, idsIn(name)]), changes = ["content", "old_text", "append"].some((name) => given2?.[name] !== void 0);
  return { ...Object.fromEntries(ids), ...changes ? { changes_words: !0 } : {} };
}
var CODES = ["exit_code", "exitCode", "exit", "returncode", "code", "interrupted", "result_type", "resultType"], OUTPUTS = [
  "output",
  "stdout",
  "stderr",
  "text",
  "content",
  "aggregated_output",
  "text_result_for_llm",
  "textResultForLlm"
];
function toolResponse(given2, isCommand) {
  if (typeof given2 == "string") return isCommand ? endOf(given2) : "";
  if (Array.isArray(given2))
    return isCommand ? endOf(given2.flatMap((part) => textOf(part, "text") ?? []).join(`
`)) : "";
  if (!isFields(given2)) return given2 == null ? given2 : {};
  let codes = CODES.flatMap(
    (name) => ["string", "number", "boolean"].includes(typeof given2[name]) ? [[name, shorten(given2[name], 100)]] : []
  ), outputs = isCommand ? OUTPUTS.flatMap((name) => textOf(given2, name) ? [[name, endOf(given2[name])]] : []) : [], metadata = isFields(given2.metadata) ? [["metadata", toolResponse(given2.metadata, isCommand)]] : [];
  return Object.fromEntries([...codes, ...outputs, ...metadata]);
}
function shorten(value, length, depth = 0) {
  if (typeof value == "string") return cleanText(value, length);
  if (value === null || typeof value != "object") return value;
  if (depth === DEEPEST) return null;
  if (Array.isArray(value)) return value.slice(0, MOST_ITEMS).map((item) => shorten(item, length, depth + 1));
  let members = Object.entries(value).slice(0, MOST_ITEMS);
  return Object.fromEntries(members.map(([name, member2]) => [first(name, 200), shorten(member2, length, depth + 1)]));
}
var INPUTS = ["tool_input", "toolInput", "toolArgs", "tool_args"], RESPONSES = ["tool_response", "tool_output", "tool_result", "toolResult", "error"], UNREAD = /* @__PURE__ */ new Set([
  "user_email",
  "attachments",
  "transcript_path",
  "agent_transcript_path",
  "transcriptPath",
  "background_tasks"
]);
function member(name, value, isTool, isCommand, isOwn) {
  return isTool ? INPUTS.includes(name) || name === "args" ? isOwn ? ownInput(value) : toolInput(value) : RESPONSES.includes(name) ? toolResponse(value, isCommand) : ["edits", "output", "content", "command"].includes(name) ? ownMember(name, value) : value : value;
}
function ownMember(name, value) {
  return name === "edits" || name === "content" ? [] : typeof value != "string" ? [] : name === "command" ? commandText(value) : endOf(value);
}
function cleanOpenCode(event, isTool, isCommand, isOwn) {
  let { input, output } = event, told = isFields(input) && isTool ? { ...input, args: (isOwn ? ownInput : toolInput)(input.args) } : input, parts = Array.isArray(output?.parts) ? [
    {
      type: "text",
      text: output.parts.filter((part) => part?.type === "text" && part.synthetic !== !0 && typeof part.text == "string").map(({ text }) => text).join(`
`)
    }
  ] : void 0, answered = isTool ? toolResponse(output, isCommand) : parts === void 0 ? output : { parts };
  return { hook: event.hook, input: told, output: answered, session: event.session };
}
function cleanEvent(event) {
  let isTool = kindOf(event) === "tool" && isWorkOf(event), isOwn = isOwnTool(toolOf(event)), isCommand = isTool && (runsCommands(toolOf(event)) || event.hook_event_name === "afterShellExecution"), known = event.hook === void 0 ? Object.fromEntries(
    Object.entries(event).filter(([name]) => !UNREAD.has(name)).map(([name, value]) => [name, member(name, value, isTool, isCommand, isOwn)])
  ) : cleanOpenCode(event, isTool, isCommand, isOwn);
  return [LONGEST_TEXT, 500, 100].map((length) => shorten(known, length)).find((made) => Buffer.byteLength(JSON.stringify(made)) <= LARGEST_EVENT) ?? Object.fromEntries(Object.entries(shorten(known, 100)).filter(([, value]) => typeof value == "string"));
}

import { statSync as statSync2 } from "node:fs";
import { basename, dirname, join as join3, resolve } from "node:path";
var read = (file) => {
  try {
    return readText(file);
  } catch {
    return null;
  }
}, isFolder = (path) => statSync2(path, { throwIfNoEntry: !1 })?.isDirectory() === !0;
function repositoryOf(folder) {
  for (let at = resolve(folder); ; at = dirname(at)) {
    let git = join3(at, ".git");
    if (isFolder(git)) return { root: at, own: at, git, common: git };
    let linked = /^gitdir: *(.+)$/m.exec(read(git) ?? "")?.[1];
    if (linked !== void 0) {
      let own = resolve(at, linked.trim()), shared = read(join3(own, "commondir")), common = shared === null ? own : resolve(own, shared.trim());
      return { root: shared === null ? at : basename(common).startsWith(".") ? dirname(common) : common.replace(/\.git$/, ""), own: at, git: own, common };
    }
    if (dirname(at) === at) return null;
  }
}
var unquoted = (text) => text.trim().replace(/^"(.*)"$/, "$1").replace(/\\(["\\])/g, "$1");
function withoutUser(remote) {
  return remote.includes("://") ? remote.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, "$1").replace(/[?#].*$/s, "") : remote.replace(/^[^/:]*@(?=[^/]*:)/, "");
}
function remoteOf(config) {
  let found = /* @__PURE__ */ new Map(), name = null;
  for (let line of config.split(/\r?\n/)) {
    let header = /^\s*\[\s*([\w.-]+)(?:\s+"(.*)")?\s*\]/.exec(line);
    header !== null && (name = header[1].toLowerCase() === "remote" ? header[2] ?? null : null);
    let url = /^\s*url\s*=\s*(.+)$/i.exec(line)?.[1];
    name !== null && url !== void 0 && !found.has(name) && found.set(name, withoutUser(unquoted(url)));
  }
  return found.get("origin") ?? [...found.values()][0];
}
var LONGEST_NAME = 999, RECALLS = ["all", "start", "off"];
function wishesIn(folder) {
  try {
    return readText(join3(folder, ".commonplace.json"));
  } catch (error) {
    return ["ENOENT", "ENOTDIR"].includes(error.code) ? null : "";
  }
}
function wishesOf(folders) {
  let text = folders.map(wishesIn).find((found) => found !== null);
  if (text === void 0) return {};
  try {
    let wishes = jsonIn(text);
    if (isFields(wishes)) return wishes;
  } catch {
  }
  return { capture: !1, isUnreadable: !0 };
}
function placeOf(event, env, home) {
  let given2 = textOf(event, "cwd") ?? event.workspace_roots?.find?.((root) => typeof root == "string") ?? textOf(event.session, "directory"), started = env.CLAUDE_PROJECT_DIR || process.cwd(), repository = repositoryOf(given2 ?? started), folder = repository?.root ?? resolve(env.CLAUDE_PROJECT_DIR || given2 || started), wishes = wishesOf(repository === null ? [folder] : [repository.own, repository.root]), remote = repository === null ? void 0 : remoteOf(read(join3(repository.common, "config")) ?? ""), branch = repository === null ? void 0 : /^ref: refs\/heads\/(.+)$/m.exec(read(join3(repository.git, "HEAD")) ?? "")?.[1];
  return {
    place: {
      folder: folder === resolve(home) ? "/" : folder,
      ...remote === void 0 ? {} : { remote },
      ...branch === void 0 ? {} : { branch: branch.trim() },
      ...textOf(wishes, "project") === void 0 ? {} : { project: wishes.project.slice(0, LONGEST_NAME) },
      ...wishes.audience === "project" ? { audience: "project" } : {},
      ...wishes.capture === !1 ? { capture: !1 } : {}
    },
    own: repository?.own ?? folder,
    recall: RECALLS.includes(wishes.recall) ? wishes.recall : "all",
    isUnreadable: wishes.isUnreadable === !0
  };
}

import * as fs from "node:fs";
import { join as join4 } from "node:path";
var MOST_EVENTS2 = 2e3, MOST_BYTES3 = 8 * 1048576, LONGEST_WAIT_MS = 6 * 864e5, OLDEST_LOCK_MS = 1e4, OLDEST_DRAFT_MS = 6e4, NAME = /^\d{13}-[0-9a-f]{64}\.json$/, folderOf = (home) => join4(home, ".commonplace");
function writeWhole(file, text) {
  let draft = `${file}.${process.pid}.${Math.random().toString(36).slice(2)}.draft`;
  return fs.writeFileSync(draft, text, { mode: 384 }), fs.renameSync(draft, file), !0;
}
var quietly = (work, otherwise) => {
  try {
    return work();
  } catch {
    return otherwise;
  }
};
function openSpool(home) {
  let own = folderOf(home), folder = join4(own, "spool"), [lock, lostFile, stateFile] = ["sender.lock", "lost", "state.json"].map((name) => join4(own, name));
  quietly(() => fs.mkdirSync(folder, { recursive: !0, mode: 448 }));
  let filesIn = (where) => quietly(() => fs.readdirSync(where), []), names = () => filesIn(folder).filter((name) => NAME.test(name)).sort(), remove = (name) => quietly(() => fs.rmSync(join4(folder, name), { force: !0 })), read3 = (name) => quietly(() => JSON.parse(fs.readFileSync(join4(folder, name), "utf8")), null), lose = (name) => {
    quietly(() => fs.appendFileSync(lostFile, `${name.slice(14, 78)}
`, { mode: 384 })), remove(name);
  }, lostIds = () => new Set(
    quietly(() => fs.readFileSync(lostFile, "utf8"), "").split(`
`).filter(Boolean)
  ), bound = (now) => {
    let all = names(), old = all.filter((name) => Number(name.slice(0, 13)) < now - LONGEST_WAIT_MS);
    for (let name of old) lose(name);
    let waiting = all.slice(old.length);
    if (waiting.length * LARGEST_EVENT <= MOST_BYTES3) return;
    let sizes = new Map(
      waiting.map((name) => [name, fs.statSync(join4(folder, name), { throwIfNoEntry: !1 })?.size ?? 0])
    ), [count, bytes] = [waiting.length, [...sizes.values()].reduce((sum, size) => sum + size, 0)];
    if (count <= MOST_EVENTS2 && bytes <= MOST_BYTES3) return;
    let isTool = new Map(waiting.map((name) => [name, kindOf(read3(name)?.event ?? {}) === "tool"]));
    for (let name of [...waiting.filter((one) => isTool.get(one)), ...waiting.filter((one) => !isTool.get(one))]) {
      if (count <= MOST_EVENTS2 && bytes <= MOST_BYTES3) return;
      lose(name), count--, bytes -= sizes.get(name);
    }
  };
  return {
    names,
    read: read3,
    remove,
    lose,
    bound,
    lost: () => lostIds().size,
    /** @returns the name of its file; that of the waiting one if two hooks report the same event; null if none can be written */
    put(record) {
      let all = names(), there = all.find((name2) => name2.includes(record.id));
      if (there !== void 0) return there;
      let name = `${String(record.at).padStart(13, "0")}-${record.id}.json`;
      return quietly(() => writeWhole(join4(folder, name), JSON.stringify(record)), !1) ? (all.length * LARGEST_EVENT >= MOST_BYTES3 && bound(record.at), name) : null;
    },
    /** The stored state of the server: last response, start of the outage, and its cause. */
    state: () => quietly(() => JSON.parse(fs.readFileSync(stateFile, "utf8")), {}),
    remember: (state) => quietly(() => writeWhole(stateFile, JSON.stringify(state))),
    /** Called when losses were reported to the server and the user. */
    forgetLost: () => quietly(() => fs.rmSync(lostFile, { force: !0 })),
    /** Deletes drafts of killed programs. */
    sweep(now) {
      for (let [where, name] of [folder, own].flatMap((at) => filesIn(at).map((one) => [at, one])))
        name.endsWith(".draft") && (fs.statSync(join4(where, name), { throwIfNoEntry: !1 })?.mtimeMs ?? now) < now - OLDEST_DRAFT_MS && fs.rmSync(join4(where, name), { force: !0 });
    },
    /** @returns {(() => void) | null} a function that releases the lock; null while another program sends */
    takeLock(now) {
      let mine = `${process.pid} ${now} ${Math.random()}`, take = () => quietly(() => (fs.writeFileSync(lock, mine, { flag: "wx", mode: 384 }), () => {
        quietly(() => fs.readFileSync(lock, "utf8"), "") === mine && fs.rmSync(lock, { force: !0 });
      }), null), taken = take();
      if (taken !== null) return taken;
      let held = quietly(() => fs.readFileSync(lock, "utf8"), ""), since = Number(held.split(" ")[1]) || (fs.statSync(lock, { throwIfNoEntry: !1 })?.mtimeMs ?? now);
      if (Math.abs(now - since) < OLDEST_LOCK_MS && isAlive(Number(held.split(" ")[0]))) return null;
      let aside = `${lock}.${process.pid}.draft`;
      return quietly(() => fs.renameSync(lock, aside), null), fs.existsSync(aside) ? (quietly(() => fs.readFileSync(aside, "utf8"), "") !== held && quietly(() => fs.linkSync(aside, lock), null), fs.rmSync(aside, { force: !0 }), take()) : null;
    }
  };
}
function isAlive(pid) {
  if (!Number.isInteger(pid) || pid <= 0) return !0;
  try {
    return process.kill(pid, 0), !0;
  } catch (error) {
    return error.code !== "ESRCH";
  }
}

import { readFileSync as readFileSync4 } from "node:fs";
import { join as join5 } from "node:path";
var MOST_SESSIONS = 20, MOST_WAITING = 100, fileOf = (home) => join5(folderOf(home), "told.json");
function read2(home) {
  try {
    let told = jsonIn(readFileSync4(fileOf(home), "utf8"));
    return Array.isArray(told.sessions) ? told : { sessions: [] };
  } catch {
    return { sessions: [] };
  }
}
function write(home, told) {
  try {
    writeWhole(fileOf(home), JSON.stringify(told));
  } catch {
  }
}
var plain = (text) => text.replace(/[\s\p{Cc}]+/gu, " "), countsLine = ({ shown, used, captured, proposed = 0 }) => shown + captured === 0 ? [] : [`memory: ${shown} shown, ${used} used, ${captured + proposed} captured`], waitingLine = ({ url, waiting = 0 }) => waiting < 1 ? [] : [`${waiting === 1 ? "1 session waits" : `${waiting}${waiting < MOST_WAITING ? "" : " or more"} sessions wait`} for review: ${url}/review`];
function hear(home, url, { memory, waiting, proposed = {} }, folderOfSession) {
  if (memory === void 0 && waiting === void 0) return;
  let told = read2(home), others = told.sessions.filter(([id]) => id !== memory?.session), own = memory === void 0 ? [] : [[memory.session, folderOfSession(memory.session), memory, !1]];
  for (let [id, , counts] of others) proposed[id] > 0 && (counts.proposed = proposed[id]);
  write(home, {
    ...waiting === void 0 ? { url: told.url, waiting: told.waiting } : { url, waiting },
    sessions: [...others, ...own].slice(-MOST_SESSIONS)
  });
}
function atStart(home, folder) {
  let told = read2(home), last2 = told.sessions.findLast((one) => one[1] === folder && !one[3]);
  return last2 !== void 0 && (last2[3] = !0, write(home, told)), [...last2 === void 0 ? [] : countsLine(last2[2]), ...waitingLine(told)];
}
function statusLine(home, { session_id: session }) {
  let told = read2(home), own = told.sessions.find(([id]) => id === session);
  return plain([...own === void 0 ? [] : countsLine(own[2]), ...waitingLine(told)].join("; "));
}

var LONGEST_MS = { start: 2e3, prompt: 2e3, agent: 2e3, other: 1e3 }, ANSWERED = ["start", "prompt", "agent"], NEVER = ["decision", "continue", "stopReason"], clock = (ms) => new Date(ms).toTimeString().slice(0, 5), counted = (count) => `${count} ${count === 1 ? "event waits" : "events wait"}`;
function messageOf({ url, flaw, state, waiting, lost, isOff, isUnreadable, unwritten, notice, told }) {
  let said = [];
  return flaw !== null && said.push(`${flaw}, so ${url} is asked`), state.status === 401 || state.status === 403 ? said.push(`${url} refuses the key, ${counted(waiting)}`) : state.failedSince !== void 0 && said.push(`cannot reach ${url} since ${clock(state.failedSince)}, ${counted(waiting)}`), isUnreadable ? said.push(".commonplace.json cannot be read as a JSON object: nothing is captured here") : isOff && said.push("capture is off here (.commonplace.json)"), unwritten !== null && said.push(`${unwritten} cannot be written: tool events are lost`), lost > 0 && said.push(`${lost} ${lost === 1 ? "event was" : "events were"} lost`), typeof notice == "string" && notice !== "" && said.push(notice.slice(0, 500)), said.push(...told), said.length === 0 ? null : plain(`commonplace: ${said.join("; ")}`);
}
var allowed = (output) => isFields(output) ? Object.fromEntries(Object.entries(output).filter(([name]) => !NEVER.includes(name))) : null;
function nextState(spool, error, toldLost) {
  let before = spool.state(), now = Date.now(), state = error === null ? { answeredAt: now, toldLost } : {
    toldLost,
    ...before.answeredAt === void 0 ? {} : { answeredAt: before.answeredAt },
    failedSince: before.failedSince ?? now,
    ...error.status === void 0 ? {} : { status: error.status }
  };
  return error !== null && before.failedSince === state.failedSince && before.status === state.status || spool.remember(state), state;
}
async function handle(argument, event, { env, home }) {
  let client = clientOf(argument, event, env), kind = kindOf(event), nothing = { client, kind, output: null, message: null };
  if (nameOf(event) === "" || kind === "tool" && !isWorkOf(event)) return nothing;
  let at = Date.now(), until = at + (LONGEST_MS[kind] ?? 0), { place, own, recall, isUnreadable } = placeOf(event, env, home), isOff = place.capture === !1, isAsked = (kind === "start" ? recall !== "off" : ANSWERED.includes(kind) && recall === "all") && !(client === "cursor" && kind === "prompt"), spool = openSpool(home), record = { client, id: idOf(client, event), at, event: cleanEvent(event), place };
  if (isOff && kind !== "start" && !isAsked) return nothing;
  let name = isOff ? null : spool.put(record), isUnwritten = !isOff && name === null;
  if (kind === "tool") return nothing;
  let { url, key, flaw } = settingsOf(env, home), sender = senderTo({
    spool,
    url,
    key,
    until,
    hear: (answer, records) => hear(
      home,
      url,
      answer,
      (session) => records.find((one) => sessionOf(one.client, one.event) === session)?.place.folder
    )
  }), lost = spool.lost(), [output, notice, error] = [null, void 0, null];
  try {
    if (isAsked || isUnwritten || name !== null && ANSWERED.includes(kind)) {
      let answer = await sender.ask([record], isAsked ? record.id : void 0);
      name !== null && (answer === null ? spool.lose(name) : spool.remove(name)), output = withChanges(allowed(answer?.output), answer?.cited, own), notice = answer?.notice;
    }
    let release = spool.takeLock(Date.now());
    try {
      release !== null && (spool.bound(at), spool.sweep(at), notice = await sender.waiting() ?? notice);
    } finally {
      release?.();
    }
  } catch (problem) {
    if (!(problem instanceof NoAnswer)) throw problem;
    error = sender.hasAnswered() && problem.status === void 0 ? null : problem;
  }
  let state = nextState(spool, error, sender.told());
  if (kind !== "start") return { ...nothing, output };
  let unwritten = isUnwritten ? folderOf(home) : null, message = messageOf({
    url,
    flaw,
    state,
    waiting: spool.names().length,
    lost,
    isOff,
    isUnreadable,
    unwritten,
    notice,
    // The person has read the line before the session was compacted or cleared.
    told: ["compact", "clear"].includes(event.source) ? [] : atStart(home, place.folder)
  });
  return error === null && sender.told() >= lost && lost > 0 && (spool.forgetLost(), spool.remember({ ...state, toldLost: 0 })), { ...nothing, output, message };
}
function printed({ client, kind, output, message }) {
  if (!ANSWERED.includes(kind)) return { out: "", err: "" };
  let line = (value) => `${JSON.stringify(value)}
`;
  if (client === "cursor") {
    let answer2 = kind === "prompt" ? {} : output;
    return { out: answer2 === null ? "" : line(answer2), err: message === null ? "" : `${message}
` };
  }
  if (client === "copilot") {
    let progress = message === null ? "" : line({ type: "progress", message });
    return { out: kind === "prompt" ? "" : progress + (output === null ? "" : line(output)), err: "" };
  }
  let answer = message === null ? output : { systemMessage: message, ...output };
  return { out: answer === null ? "" : line(answer), err: "" };
}

var LONGEST_RUN_MS = 2500;
async function hook(argument, around) {
  let text = "";
  process.stdin.setEncoding("utf8");
  for await (let piece of process.stdin) text += piece;
  let event = jsonIn(text);
  if (!isFields(event)) return;
  if (argument === "statusline") return void process.stdout.write(`${statusLine(around.home, event)}
`);
  let { out, err } = printed(await handle(argument, event, around));
  err !== "" && process.stderr.write(err), out !== "" && await new Promise((resolve2) => process.stdout.write(out, resolve2));
}
async function main() {
  let argument = process.argv[2] ?? "generic", around = { env: process.env, home: homedir() };
  if (argument === "mcp")
    return await bridge({ ...around, input: process.stdin, write: (line) => process.stdout.write(line) }), process.stdout.write("", () => process.exit(0));
  setTimeout(() => process.exit(0), LONGEST_RUN_MS).unref();
  try {
    await hook(argument, around);
  } catch (error) {
    process.stderr.write(`commonplace: ${error.message}
`);
  }
  process.exit(0);
}
function isProgram() {
  try {
    return realpathSync2(process.argv[1] ?? "") === realpathSync2(fileURLToPath(import.meta.url));
  } catch {
    return !1;
  }
}
isProgram() && main();
export {
  handle,
  statusLine
};
