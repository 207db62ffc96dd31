// The rules of src/domain/secrets, minified: the server uses the same.
var secretRules=(()=>{var v=Object.defineProperty;var se=Object.getOwnPropertyDescriptor;var re=Object.getOwnPropertyNames;var oe=Object.prototype.hasOwnProperty;var ie=(t,e)=>{for(var n in e)v(t,n,{get:e[n],enumerable:!0})},ae=(t,e,n,s)=>{if(e&&typeof e=="object"||typeof e=="function")for(let r of re(e))!oe.call(t,r)&&r!==n&&v(t,r,{get:()=>e[r],enumerable:!(s=se(e,r))||s.enumerable});return t};var le=t=>ae(v({},"__esModule",{value:!0}),t);var cn={};ie(cn,{redact:()=>te});var ce=/^(?:.{0,4}(?:\*{3,}|\.{3,}|…+).{0,4}|(?:[a-z]{1,8}[-_]){0,3}x[-_x]*)$|^\[redacted:/i,de=/^(?:your(?:[-_.][-_.a-z0-9]+|[a-z]*)|(?:example|sample|dummy|placeholder|replace|insert|enter|please|change.?me)[a-z-_.]*!?)$/i,ue=/^(?:\$[a-z_]\w*|%\w+%|#[0-9a-f]{3,8}|[#/][a-z_-]+|\/[\w-]+\.[a-z]{1,5})$/i,pe=/^(?:&lt;|["']\$|(?:undefined|optional|required|nullable)(?![\w-])|\$[a-z_]\w*(?:->|[/[$.:])|%(?:[({]|s\b))/i,fe=new Set("string str number int integer bool boolean bytes buffer any unknown object null none nil void never true false yes no on off inherit required optional hidden masked redacted missing invalid disabled enabled default generated foo bar foobar test testing todo tbd contraseña passwort kennwort n/a value securestring varchar text uuid".split(" ")),he=/^(?:my|the|db|user|new|old|some|super|test)?[-_ ]?(?:password|passwd|passphrase|secret|token|key|pass|pwd|credentials?|api[-_]?key)$/i,me=/^[0-]+$|^[~^>=<v]*\d{1,5}(?:\.\d{1,5}){1,3}(?:[-+][\w.]{1,40})?$/,ge=/^(?:arn:|sha\d{1,3}[-:]|[a-z]:\\|\.{1,2}\/|~\/|\/[\w.@-]+\/|[a-z][a-z0-9+.-]{1,20}:\/\/)/i,_e=/\$[{(]|\{\{/,be=/^(?:[\w-]*<[^<>\n]*>|\{[^{}\n]*\}|#\{|\([^()\n]*\)|[A-Za-z_$][\w$.:]*\((?:[^\n]*\)|["'`\s]|$))/,g=(t,e)=>fe.has(t.toLowerCase())||[ce,de,he,me,ue,pe,ge,_e].some(n=>n.test(t))||/[<{(]/.test(e.slice(0,t.length+1))&&be.test(e);var B="(?:api|access|secret|private|auth|encryption|signing|master|account|subscription|license|admin|session|service|app|webhook)",ye=/(?:secret|password|passwd|passphrase|passcode|passwort|pwd|credential|token|_key|accountkey|sharedaccesskey)\d*$/i,Ae=new RegExp(`${B}[-_.]?key\\d*$`,"i"),we=/(?:^|[^A-Za-z])pass\d*$|[a-z]Pass\d*$|(?:db|user|admin|root|smtp|mail|ftp|ssh|sql|redis|pg|proxy)pass\d*$/i,ke=/(?:^|[^A-Za-z])_?auth$/i,Ee=/[a-z]Key\d*$|[-.]key\d*$/,Se=new RegExp("(?:public|primary|foreign|sort|partition|cache|row|group|idempotency|index|unique|query|publishable|site|object|s3|file|map|hash)-?key\\d*$","i"),G=/(?:passw(?:or)?d|passphrase|passcode|passwort|pwd)|secret\d*$|(?:api|access|auth|private|signing|encryption|master)[-_.]?key\d*$/i,xe=/(?:public|primary|foreign|sort|partition|cache|row|group|idempotency|index|unique|storage|query|publishable|site)_key$/i,Re=new RegExp(`^.*(?:secret|password|passwd|passphrase|passcode|passwort|pwd|credential|token|${B}[-_.]?key)`,"i"),Oe=/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])/,Ne=new Set("age agent algorithm alg arn at audience box budget button category chars class column cost count counter counts created date days description dir duration enabled encoder encoding endpoint env error errors event expire expires expiration expiry field fields file filename flag form format generator group handler header help hint host hours id ids in index input issuer kind label length len lifetime limit limits list manager max message method min minutes mode model ms name names number offset on path pattern placeholder policy position prefix price prompt provider rate ref reference regex remaining required reset response rotation rule rules schema scope scopes score seconds selector service size source start state status stdin store stream strength suffix table text time timeout title ttl type types updated uri url usage used validator version visible window cs css go html java js json jsx log md php py rb rs sh sql toml ts tsx txt vue yaml yml".split(" "));function F(t){if(ye.test(t)||Ae.test(t))return xe.test(t)?null:G.test(t)?"strong":"plain";if(we.test(t)||ke.test(t))return"weak";if(Ee.test(t))return Se.test(t)?null:"weak";let e=Re.exec(t)?.[0];if(e===void 0)return null;let n=t.slice(e.length);return(/[A-Z]$/.test(e)?/^[A-Za-z]/:/^[a-z]/).test(n)||n.split(Oe).some(r=>Ne.has(r.toLowerCase()))?null:G.test(e)?"strong":"plain"}var $e="abacadagaialamanaparasatauaybabebiblbobrbucacechcickclcocrctcudadedidodsdueaecedeeefegelemeneperesetevexfafefifogeghgigrguhahehihohtiaibicidieifigiliminioipirisitivkekikslaldlelilllolslulymamemimompnancndnengninonsntocodolomonoooporosotouovowpapepiplpoppprptqurarcrdrerirmrorrrsrtrurysascseshsisospssstsutatctethtitotrtstttutyucueulumunupurusutvaveviwawewhwixp",Te=new Set($e.match(/../g)),ze=64,ve=.7,Ie=3.5;function f(t){let e=t.slice(0,ze).match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g);if(e===null)return!1;let[n,s,r]=[0,0,0];for(let o of e){n+=o.length,s+=o.length-1;let i=o.toLowerCase();for(let a=1;a<i.length;a++)Te.has(i.slice(a-1,a+1))&&r++}return s>0&&n/e.length>=Ie&&r/s>=ve}var x=/(?:secret|pass(?:w(?:or)?d|phrase|code|wort)?|pwd|token|key|credential|unseal|authorization|cookie|_auth|\bauth|sig)[\w.-]*/gi,R=String.raw`(?:(?:\p{Cc}|\\x1b|\\u001b|\\033|\\e)\[[0-9;]{0,9}m)?`,Ce=new RegExp([String.raw`${R}(?:\\{0,3}["'${"`"}]|\*\*)?\]?${R}[ \t]{0,20}(?:=>|:=|\?=|[=:](?![=:]))`,String.raw`${R}(?:\*\*)?[ \t]{0,20}(?:[A-Za-z]{1,20}[ \t]{1,5}=[ \t]{0,5})?${R}`].join(""),"uy"),Le=/\\{0,3}["'`]?[ \t]{0,5},?\s{0,20}\\{0,3}["'`]?(?:value|content|default)\\{0,3}["'`]?[ \t]{0,5}[:=][ \t]{0,5}/iy,Me=/(?:["'][^<>\n]{0,60})?>(?=[^<>\n]{1,256}<\/)[ \t]{0,5}/y,Ze=/["'`]?\]?[ \t]{0,5}[!=]==?[ \t]{0,5}(?=["'`])/y,De=/\\{0,3}["'][ \t]{0,5},[ \t]{0,5}(?:["'](?=["']))?(?=\\{0,3}["'])/y,Ge=/\(\s{0,5}["'][^"'\n]{1,80}["'],\s{0,5}(?=["'])/y,Be=/\([ \t]{0,5}(?=["'`])/y,Fe=/[ \t]\d{1,2}(?=:)/y,Pe=/[ \t]{1,20}/y,Ke=/[ \t]{0,3}(?:(?:for|of|to|on|in)[ \t]\S{1,40}[ \t])?(?:is|was|are|=|is:|will be|should be|\|)[ \t]{1,5}/iy,qe=/[bBruU@]?\\{0,3}["'`]/y,We=/[|>][+-]?\d?[ \t]{0,20}\r?\n/y,je={'"':[/[^\s"\\\p{Cc}]*/uy,/[^\n"\\\p{Cc}]*/uy],"'":[/[^\s'\\\p{Cc}]*/uy,/[^\n'\\\p{Cc}]*/uy],"`":[/[^\s`\\\p{Cc}]*/uy,/[^\n`\\\p{Cc}]*/uy]},Ue=/[^\s"'`\p{Cc}]*/uy,Ve=/[^\s"'`<>&;#)\p{Cc}]*/uy,Je=/[^\s"'`<>;\p{Cc}]*/uy,Qe=/[^<>\n\p{Cc}]*/uy,Ye=/[^\s"'`,;&()[\]{}<>\\=:|\p{Cc}]*={0,2}/uy,I=8,P=6,S=256,C=64,He=4e3,Xe=8e3,K=/passw|passphrase|passcode|pwd/i,O=/secret|passw|pwd|token|key|required|invalid|missing|credential|hash/i,q=/^[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+$/,et="$*#%",N=/^[A-Z][A-Z0-9_]*$/,tt=new Set("must be is are was the a an your it its of for at should not no with and or in on to please enter forgot reset change confirm new min least character characters if this that can cannot will use see from by".split(" ")),W=t=>/[?…]|\.\.\./.test(t)||t.split(/\s/).some(e=>tt.has(e.toLowerCase())),nt=/^[,;()[\]{}<>.=&|]/,st=new RegExp("^(?:[ \\t]{0,5}(?:$|[\\r\\n]|#|\\/\\/|\\\\n|\\\\r)|[\"'`]|\\p{Cc}|\\\\(?:u001b|x1b|033|e\\[))","u"),_=t=>t.match(/\d/g)?.length??0,$=t=>_(t)>0&&/[A-Za-z]/.test(t)||/[a-z]/i.test(t)&&/[!@#%^*+~$]/.test(t)||!f(t);function rt(t,{strength:e,rest:n}){if(et.includes(t.charAt(0)))return!1;if(_(t)>=2||/[-!@#%^*+/~]/.test(t))return!0;let s=n.slice(t.length,t.length+8);return e==="strong"&&st.test(s)?!O.test(t)||!f(t):nt.test(s)&&/^[A-Za-z_]+\d?$/.test(t)?!f(t):!f(t)}function ot(t,e){let{strength:n,form:s,rest:r}=e;return g(t,r)?!1:n===null?s!=="words"&&_(t)>=2&&t.length>=20&&/[A-Za-z]/.test(t):n==="weak"&&s!=="line"?t.length>=16&&_(t)>=2&&$(t):s==="line"?!0:s==="words"?n==="strong"&&/^\w/.test(t)&&!O.test(t)&&!W(t):t.includes(".")&&q.test(t)&&_(t)<4?!1:s==="prose"?$(t):s==="bare"?rt(t,e):_(t)>0?!0:/[^\w\-./]/.test(t)?!(/[/#]/.test(t)&&O.test(t)&&f(t)):!f(t)||n==="strong"&&!O.test(t)}function p(t,e,n){return t.lastIndex=n,t.exec(e)?.[0]??null}var A=(t,e,n)=>n+(p(t,e,n)?.length??0),T=(t,e,n)=>t.slice(Math.max(0,e-n),e);function it(t,{text:e,from:n},s,r){let o=s==="="||new RegExp("\\p{Cc}","u").test(s)&&/^=$/.test(s.replace(new RegExp("\\p{Cc}\\[[0-9;]{0,9}m","gu"),"")),i=t[n-1]===" "?t[n-2]:t[n-1];return o&&(i==="?"||i==="&")?"parameter":o&&i===";"?"member":e.startsWith("-")||o&&N.test(e)?"line":o&&(i===void 0||i==='"'||i==="'")&&/^[^;\n]{1,80};[ \t]?[A-Za-z]/.test(t.slice(r,r+90))?"member":"bare"}function at(t,{text:e,from:n,to:s}){let r=t[s];if(r==="("&&/(?:^|\.)(?:set|with|add)[A-Z_]|(?:^|\.)password$/.test(e)){let l=p(Be,t,s);return l===null?null:{end:s+l.length,form:"quoted"}}if(r==="("&&/credentials?$/i.test(e)){let l=p(Ge,t,s);return l===null?null:{end:s+l.length,form:"quoted"}}let o=r===">"&&(t[n-1]==="<"||/<[\w-]{1,20}:$/.test(T(t,n,24))),i=(r==='"'||r==="'")&&/<[\w:-]{1,40}[ \t][^<>]{0,60}$/.test(T(t,n,80));if(!o&&!i)return null;let a=p(Me,t,s);return a===null?null:{end:s+a.length,form:"element"}}function lt(t,e){let{from:n,to:s}=e,r=/key$/i.test(e.text)?p(Fe,t,s)?.length??0:0,o=p(Ce,t,s+r);if(o!==null){if(o===":"&&t[n-1]===":")return null;let m=s+r+o.length;return{end:m,form:it(t,e,o,m)}}let i=p(Ze,t,s);if(i!==null)return{end:s+i.length,form:"quoted"};let a=p(Le,t,s);if(a!==null)return{end:s+a.length,form:N.test(e.text)||a.includes("=")?"line":"bare"};let l=at(t,e);if(l!==null)return l;let d=p(De,t,s)??p(Ke,t,s);if(d!==null)return{end:s+d.length,form:"prose"};let c=p(Pe,t,s);if(c===null)return null;let u=s+c.length;return N.test(e.text)&&ut.test(T(t,n,40))?{end:u,form:"line"}:K.test(e.text)&&pt.test(T(t,n,80))?{end:u,form:"line"}:/^--?[A-Za-z]/.test(e.text)?{end:u,form:ft(t,u)?"prose":"line"}:ct(t,e,u)}function ct(t,{text:e},n){if(/["'`]/.test(t[n]??""))return{end:n,form:N.test(e)?"line":"prose"};let s=p(dt,t,n);return s!==null&&_(s)>1&&/[A-Za-z]/.test(s)?{end:n,form:"prose"}:null}var dt=/[\w+/-]{20,256}={0,2}(?![\w=])/y,ut=/(?:^|\n)[ \t]*(?:ENV|ARG|setx|setenv|set(?:[ \t]+-\w+)+)[ \t]+$/,pt=/\b(?:login|user)[ \t]{1,9}\S{1,60}\s{1,9}$/,ft=(t,e)=>/^[a-z]+[,.]?[ \t]+[a-z]/.test(t.slice(e,e+60)),ht=/sess|sid|auth|token|login|csrf|jwt|secret/i;function mt(t,e,n){let s=/["']?([^=;\s"'`]{1,64})=([^;\s"'`\p{Cc}]*)(?:;[ \t]{0,5})?/uy,r=[],o=e;for(;o<e+He&&!(n&&o>e);){s.lastIndex=o;let i=s.exec(t);if(i===null)break;let[a,l="",d=""]=i,c=o+a.indexOf("=",l.length)+1,u=d.slice(0,S);d.length>=I&&!g(u,u)&&($(u)||ht.test(l))&&r.push({kind:"cookie",from:c,to:c+d.length}),o+=a.length}return{found:r,to:o}}function gt(t,e,n){let s=/([ \t]*)([^\n]*)(?:\n|$)/y,r=[],o=e;for(;o<Math.min(t.length,e+Xe);){s.lastIndex=o;let i=s.exec(t);if(i===null)break;let[a,l="",d=""]=i,c=d.trim();if(c!==""&&l.length<=n)break;c.length>=P&&!g(c,c)&&!W(c)&&r.push({kind:"secret",from:o+l.length,to:o+l.length+d.trimEnd().length}),o+=a.length}return{found:r,to:o}}function _t(t,e,n,s){if(n==="element")return{form:"line",from:e,to:A(Qe,t,e)};let r=p(qe,t,e)??"",o=e+r.length;if(r==="")return n==="member"?{form:"line",from:o,to:A(Je,t,o)}:n==="parameter"?{form:"line",from:o,to:A(Ve,t,o)}:{form:n,from:o,to:A(n==="line"?Ue:Ye,t,o)};let[i,a]=je[r.slice(-1)],l=A(i,t,o);if(!/\s/.test(t[l]??'"'))return{form:n==="parameter"||n==="member"?"line":n==="bare"?"quoted":n,from:o,to:l};let d=A(a,t,l);return s==="strong"&&t.startsWith(r.slice(-1),d)?{form:"words",from:o,to:d}:null}var bt=/["']?(?:(?:[A-Za-z][\w-]{1,20})[ \t]{1,5})?/y,yt=/[^\s"'`,\p{Cc}]*/uy;function At(t,e){let n=e+(p(bt,t,e)?.length??0),s=A(yt,t,n),r=t.slice(n,Math.min(s,n+S));return{found:r.length<I||/^[A-Za-z]+=/.test(r)||g(r,t.slice(n,n+S))||!(_(r)>0&&$(r))||q.test(r)?[]:[{kind:"authorization",from:n,to:s}],to:s}}var wt=/(?:api|access|secret|private|license|encryption|signing|auth|unseal|recovery)[ \t]$/i;function kt(t){return/_authtoken$|^_auth$/i.test(t)?"npm":/accountkey$|sharedaccesskey$/i.test(t)?"azure":"secret"}function Et(t,e,n){let s=e+n,r=e;for(;r>0&&s-r<C&&/[\w.-]/.test(t[r-1]);)r--;return t[r-1]==="["&&(r+=/^[\d;]{0,9}m/.exec(t.slice(r,e))?.[0].length??0),{text:t.slice(r,s),from:r,to:s}}function St(t,e,n){if(/[?&;]$/.test(t.slice(Math.max(0,e.from-1),e.from))&&/^(?:sig|signature|key|auth|access_key)$/i.test(e.text))return"plain";if(/^unseal$/i.test(e.text))return"weak";if(/^key$/i.test(e.text))return wt.test(t.slice(Math.max(0,e.from-12),e.from))?"strong":void 0;let r=F(e.text);if(!(r===null&&!/^(?:secret|passw|token)/i.test(n)))return r}function*j(t){x.lastIndex=0;for(let e=x.exec(t);e!==null;e=x.exec(t)){let[n]=e,s=Et(t,e.index,n.length),{found:r,to:o}=n.length>C?{found:[],to:s.to}:xt(t,s,n);yield*r,x.lastIndex=Math.max(s.to,o)}}function xt(t,e,n){let s={found:[],to:e.to},r=/^-*(?:set-)?cookie2?$/i.test(e.text),o=/authorization$/i.test(e.text),i=r||o?"plain":St(t,e,n);if(i===void 0)return s;let a=lt(t,e);if(a===null)return s;let{end:l}=a;if(r)return mt(t,l,/^set/i.test(e.text));if(o)return At(t,l);let d=i!==null&&a.form==="bare"?p(We,t,l):null;if(d!==null)return gt(t,l+d.length,Rt(t,e.from));let c=_t(t,l,a.form,i);if(c===null)return{found:[],to:l};let{form:u,from:m,to:E}=c;if(E-m<(K.test(e.text)&&u!=="prose"?P:I)||i===null&&/^_?key/i.test(n))return{found:[],to:E};let D=t.slice(m,Math.min(E,m+S)),ne=a.form==="element"?D:t.slice(m,m+S);return{found:ot(D,{strength:i,form:u,rest:ne})?[{kind:kt(e.text),from:m,to:E}]:[],to:E}}function Rt(t,e){let n=t.slice(Math.max(0,e-C),e),s=n.slice(n.lastIndexOf(`
`)+1);return s.length-s.trimStart().length}var Ot="curl wget https http xh sshpass mysqldump mysqladmin mysqlimport mysqlshow mysql mariadb-dump mariadb redis-cli unzip zip 7za 7z ldapsearch ldapmodify ldapadd ldapwhoami smbclient mongosh mongodump mongorestore mongoexport mongoimport mongo sqlcmd lftp ftp mosquitto_pub mosquitto_sub rabbitmqadmin",Nt="docker podman nerdctl skopeo buildah az oc cf",$t=new RegExp(`(?<![\\w.-])(?:${Ot.replaceAll(" ","|")}|helm registry login|(?:${Nt.replaceAll(" ","|")}) login)(?=[ \\t])`,"g"),Tt=400,J=`(?:"([^"\\n]{1,128})"|'([^'\\n]{1,128})'|([^\\s"'\`]{1,256}))`,zt=new RegExp(`(?:^|\\s)(?:-u|-U|--user|--proxy-user|-a|--auth)(?:[ \\t=]+|(?=[^\\s-]))${J}`,"g"),b=(t,e)=>new RegExp(`(?:^|\\s)(?:${t})${e}${J}`,"g"),vt=[[/^sshpass/,b("-p","[ \\t]*")],[/^(?:mysql|mariadb)/,b("-p","")],[/login$/,b("-p","[ \\t]+")],[/^redis-cli/,b("-a","[ \\t]+")],[/^(?:zip|unzip|mosquitto|sqlcmd)/,b("-P","[ \\t]*")],[/^7z/,b("-p","")],[/^ldap/,b("-w","[ \\t]+")],[/^(?:mongo|rabbitmqadmin)/,b("-p","[ \\t]+")]],It=/^(?:curl|wget|https?|xh|smbclient|lftp|ftp)$/;function U(t,e){let n=t[1]??t[2]??t[3]??"";return{value:n,from:e+t.index+t[0].length-n.length-(t[3]===void 0?1:0)}}var V=4;function*Ct(t,e,n){if(It.test(t)){for(let r of e.matchAll(zt)){let{value:o,from:i}=U(r,n),a=o.search(/[:%]/),l=o.slice(a+1);a<0||l.length<V||o.startsWith("//",a+1)||l===o.slice(0,a)||g(l,l)||(yield{kind:"password",from:i+a+1,to:i+o.length})}return}let s=vt.find(([r])=>r.test(t))?.[1];if(s!==void 0)for(let r of e.matchAll(s)){let{value:o,from:i}=U(r,n);o.length<V||g(o,o)||(yield{kind:"password",from:i,to:i+o.length})}}function*Q(t){let e=0;for(let{0:n,index:s}of t.matchAll($t)){if(s<e)continue;let r=s+n.length,o=t.slice(r,r+Tt),i=/(?<!\\)\r?\n/.exec(o)?.index??o.length;yield*Ct(n,o.slice(0,i),r),e=r+i}}var h=class{constructor(e,n){this.text=e;this.ofClass=n}text;ofClass;from=0;to=-1;endFrom(e){return(e<this.from||e>this.to)&&(this.ofClass.lastIndex=e,this.ofClass.test(this.text),this.from=e,this.to=this.ofClass.lastIndex),this.to}},k=class{constructor(e,n){this.text=e;this.ofClass=n}text;ofClass;from=0;found=-1;isIn(e,n){return(e<this.from||e>this.found)&&(this.ofClass.lastIndex=e,this.from=e,this.found=this.ofClass.test(this.text)?this.ofClass.lastIndex-1:this.text.length),this.found<n}};var Y={capitals:()=>/[A-Z0-9]*/y,hex:()=>/[A-Fa-f0-9]*/y,letters:()=>/[A-Za-z0-9]*/y,words:()=>/\w*/y,dashed:()=>/[\w-]*/y,dotted:()=>/[\w.-]*/y,slashed:()=>/[\w/+-]*/y,base64:()=>/[\w+/=-]*/y,all:()=>/[\w+/=.~:$|%!@-]*/y},y=512,Lt={capitals:[["aws","AKIA ASIA ABIA ACCA",16,16],["age","AGE-SECRET-KEY-1 AGE-SECRET-KEY-PQ-1",50],["octopus","API-",25,32]],hex:[["firecrawl","fc-",32,32],["e2b","e2b_",32],["elevenlabs","sk_",40],["mailgun","key-",32,32],["twilio","SK",32,32],["digitalocean","dop_v1_ doo_v1_ dor_v1_",60],["pulumi","pul-",40],["exoscale","EXO",24,24],["rubygems","rubygems_",40],["shippo","shippo_live_ shippo_test_",32],["lob","live_ test_",35]],letters:[["adafruit","aio_",28,28],["github","ghp_ gho_ ghu_ ghr_",20],["gitlab","_gitlab_session=",32],["npm","npm_",30],["openai","sess-",40],["huggingface","hf_ api_org_",30],["groq","gsk_",40],["xai","xai-",40],["perplexity","pplx-",32],["replicate","r8_",30],["cerebras","csk-",32],["fireworks","fw_",20],["anyscale","esecret_",20],["runpod","rpa_",30],["apify","apify_api_",30],["modal","ak- as-",22,22],["shopify","shpat_ shpca_ shppa_ shpss_ shptka_ shprka_",30],["vault","s.",24,24],["neon","napi_",40],["clickhouse","4b1d",38,38],["materialize","mzp_",40],["linear","lin_api_ lin_oauth_ lin_wh_",32],["notion","ntn_",40],["notion","secret_",40],["trello","ATTA",60],["readme","rdme_",60],["datadog","ddp_ ddapp_ pub_dd",30],["honeycomb","hcaik_ hcbik_ hcxik_ hcalk_ hcxlk_ hcamk_ hcxmk_",30],["sonar","squ_ sqp_ sqa_",36],["buildkite","bkua_ bkat_ bkct_ bkpt_",36],["netlify","nfp_ nfc_ nfo_ nfu_ nfb_",30],["render","rnd_",24],["deno","ddo_ ddw_",30],["valtown","vtwn_",20],["prefect","pnu_ pnb_",30],["alibaba","LTAI",16,26],["tencent","AKID",32,36],["jfrog","AKCp",60],["jfrog","cmVmd",55],["nuget","oy2",43,43],["crates","cio",32,32],["clojars","CLOJARS_",50],["facebook","EAA",80],["easypost","EZAK EZTK",54],["razorpay","rzp_live_ rzp_test_",14],["twitch","oauth:",30,30],["settlemint","sm_pat_ sm_aat_ sm_sat_",16],["polar","polar_oat_ polar_pat_",24],["chromatic","chpt_",12],["cal","cal_live_ cal_test_",20]],words:[["github","github_pat_",20],["langchain","lsv2_pt_ lsv2_sk_ ls__",20],["pinecone","pcsk_ pckey_",30],["wandb","wandb_v1_",40],["stripe","sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_ sk_org_live_ sk_sbox_ whsec_test_",10],["resend","re_",24],["posthog","phc_ phx_ phs_ pha_ phr_",30],["grafana","glsa_",32],["sourcegraph","sgp_ slk_ sgd_",36],["circleci","CCIPAT_ CCIPRJ_",30],["vercel","vcp_ vci_ vca_ vcr_ vck_ vercel_blob_rw_",24],["cloudflare","cfut_ cfat_ cfk_",36],["clickup","pk_",36,46]],dashed:[["aws","amzn.mws. amzn1.oa2-cs.v1.",32],["pypi","pypi-",40],["nvidia","nvapi-",40],["tavily","tvly-",20],["jina","jina_",40],["together","tgp_v1_",30],["voyage","pa-",40],["brave","BSA",27,28],["slack","xoxa- xoxb- xoxc- xoxd- xoxe- xoxe.xoxp- xoxe.xoxb- xoxo- xoxp- xoxr- xoxs- xapp- xwfp-",10],["google","AIza",35],["google","GOCSPX-",24],["google","1//0",40],["brevo","xkeysib- xsmtpsib-",40],["vault","hvs. hvb. hvr.",20],["docker","dckr_pat_ dckr_oat_",20],["databricks","dapi dkea dose",32,34],["supabase","sbp_ sb_secret_",20],["mongodb","mdb_sa_sk_",30],["figma","figd_ figu_ figo_ figdr_ figur_",30],["postman","PMAK- PMAT-",26],["contentful","CFPAT-",30],["hubspot","pat-na1- pat-na2- pat-na3- pat-eu1- pat-ap1-",36],["newrelic","NRAK- NRII- NRJS- NRRA- NRSP- NRIQ- NRBR- NRAA-",15],["axiom","xaat- xapt- xait-",30],["launchdarkly","sdk- api-",36,36],["segment","sgp_v1_",36],["tailscale","tskey-",20],["heroku","HRKU-",36],["fly","fo1_",40],["cloudflare","v1.0-",100],["openshift","sha256~",43,43],["1password","A3-",33,34],["adobe","p8e-",32],["yandex","AQVN",35,38],["yandex","y0_",40],["square","sq0atp- sq0csp- sq0idp-",20],["square","EAAA",54,64],["instagram","IGQVJ IGAA IGQWR",60],["plaid","access-sandbox- access-development- access-production-",36],["flutterwave","FLWSECK- FLWSECK_TEST- FLWSECK_LIVE-",12],["pubnub","sec-c-",36],["defined","dnkey-",70],["scalingo","tk-us- tk-eu-",40],["commonplace","cp_",49,49]],dotted:[["zoho","1000.",60,70],["github","ghs_",20],["gitlab","glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glsoat- glagent- glffct- glimt- gloas- glwt- GR1348941",16],["anthropic","sk-ant-",20],["openai","sk-",20],["google","ya29.",20],["sendgrid","SG.",40],["dbt","dbtc_ dbtu_ dbts_",30],["doppler","dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit. dp.said.",40],["tinybird","p.eyJ",40],["typeform","tfp_",40],["dynatrace","dt0c01. dt0s01. dt0s02. dt0s03. dt0s06. dt0s08. dt0s16.",40],["infisical","st.",60],["harness","pat. sat.",60],["dropbox","sl.",60],["mapbox","sk.eyJ tk.eyJ",60],["n8n","n8n_api_",40],["onfido","api_live. api_sandbox. api_live_us. api_live_eu. api_live_ca.",30]],slashed:[["slack","hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/",20],["discord","discord.com/api/webhooks/ discordapp.com/api/webhooks/",40],["zapier","hooks.zapier.com/hooks/catch/",12],["backblaze","K00",28,28]],base64:[["aws","ABSK bedrock-api-key-",60],["stripe","whsec_",24],["aiven","AVNS_ aivenv1",15],["confluent","cflt",60,60],["atlassian","ATATT3 ATCTT3 ATBB ATSTT3",24],["intercom","dG9rO",50],["frameio","fio-u-",40],["sentry","sntrys_ sntryu_ sntrya_",40],["grafana","glc_",32],["grafana","eyJrIjoi",40],["fly","fm1a_ fm1r_ fm2_",60],["1password","ops_eyJ",100],["duffel","duffel_live_ duffel_test_",30],["gocardless","live_ sandbox_",40,40],["portainer","ptr_",40]],all:[["microsoft","webhook.office.com/webhookb2/ outlook.office.com/webhook/",60],["planetscale","pscale_tkn_ pscale_oauth_ pscale_pw_",32],["airtable","pat",79,79],["salesforce","00D",60],["yandex","t1.",80],["braintree","access_token$production$ access_token$sandbox$",30],["twitter","AAAAAAAAAAAAAAAAAAAAA",30],["authress","sc_ ext_ scauth_ authress_",60],["rancher","kubeconfig-",50],["facebook","GG|",40]]},Mt=new Set(["openai","anthropic","pypi","voyage","tavily","rancher","resend","langchain","jina"]),Zt=new Set(["sendgrid","harness","airtable","authress"]),z=new Map;for(let[t,e]of Object.entries(Lt))for(let[n,s,r,o=y]of e){let i=Mt.has(n)?"part":Zt.has(n)?"dot":null;for(let a of s.split(" "))z.set(a,[...z.get(a)??[],{kind:n,body:t,least:r,most:o,holds:i}])}var Dt=2,Gt=t=>t.replace(/[.\\/$|]/g,"\\$&"),w=new RegExp([...[...z.keys()].sort((t,e)=>e.length-t.length).map(Gt),"eyJ","\\dQ~",":[A-Z]","\\.(?=[\\w-]{6}\\.)","\\.atlasv1\\.","-us\\d","NRAL","_mmk","JQQJ99|AZDO|\\+ASt|AzSe|AzCa|ACDb|AzFu|AIoT","(?:[Bb]earer|BEARER|[Bb]asic|BASIC)(?:\\s|%20)+",":\\\\?/\\\\?/","-----BEGIN "].join("|"),"g");function H(t){let e=[];for(let n=t.length;n>=Dt;n--)for(let s of z.get(t.slice(0,n))??[])e.push({form:s,prefixLength:n});return e}var Bt=/(?:\\[a-z]|\\x[0-9a-f]{2}|\\u[0-9a-f]{4}|%[0-9a-f]{2}|\[[0-9;]{0,9}m)$/i,Ft=12;function L(t,e){let n=t[e-1];return n===void 0||!/[A-Za-z0-9]/.test(n)?!0:Bt.test(t.slice(Math.max(0,e-Ft),e))}var M=8e3,Pt=2e4,Kt=80,X=/(?:\\[nrt]|[\s"'+\\]){0,40}(?:[A-Za-z0-9+/=]{16}|[A-Z][A-Za-z-]{1,20}: )/y;function ee(t,e){let n=t.slice(e,e+Kt),s=n.indexOf("-----");return s<0?null:n.slice(0,s)}var qt=t=>t.length<40&&!/\d/.test(t)&&(t.split(/[^A-Za-z]+/).every(e=>/^(?:[A-Z]?[a-z]*|[A-Z]*)$/.test(e))||f(t)),Wt=/^(?:\$?\{.*\}|\$\w+|\$?\(.*\)|<.*>|\[.*\]|%\w+%|[*.…]+|x+)$/i,jt=/^(?:(?:my|your|db|the)?[-_]?(?:passw(?:or)?d|pass|pwd?|secret|token|example)|change.?me)$/i,Ut=/^@(?:localhost|127\.0\.0\.1|host\.docker\.internal|db|database|postgres|mysql|redis)(?::|$)/,Vt=48,Jt=/^\$?\{[^{}]*\}/,Qt=/[\n\r\u2028\u2029]/,Yt=/^(?=[^A-Za-z]*[A-Za-z])(?=\D*\d).*[\w~+=]{16}/,Ht=[{kind:"telegram",mark:/^:[A-Z]$/,before:/(?<!\d)\d{8,11}$/,mostBefore:12,after:"dashed",least:31,most:36},{kind:"discord",mark:/^\.$/,before:/(?<![\w-])[MNO][\w-]{22,27}$/,mostBefore:30,after:"dotted",least:33,most:48},{kind:"terraform",mark:/^\.atlasv1\.$/,before:/(?<!\w)[A-Za-z0-9]{14}$/,mostBefore:15,after:"base64",least:40,most:90},{kind:"mailchimp",mark:/^-us\d$/,before:/(?<![a-z0-9])[a-f0-9]{32}$/,mostBefore:33,after:"letters",least:0,most:1},{kind:"newrelic",mark:/^NRAL$/,before:/(?<!\w)[a-f0-9]{36}$/,mostBefore:37,after:"letters",least:0,most:0},{kind:"maxmind",mark:/^_mmk$/,before:/(?<!\w)[A-Za-z0-9]{6}_[A-Za-z0-9]{29}$/,mostBefore:37,after:"letters",least:0,most:0},{kind:"azure",mark:/^(?:JQQJ99|AZDO|Az..|\+ASt|ACDb|AIoT)$/,before:/(?<![\w+/])[\w+/]{32,76}$/,mostBefore:78,after:"base64",least:4,most:46}],Xt=9,Z=class{constructor(e){this.text=e;this.digit=new k(e,/\d/g),this.part=new k(e,/(?<![A-Za-z0-9])(?=[A-Za-z]*\d|[A-Za-z]*[A-Z]{2}[a-z]|[A-Za-z]*[a-z][A-Z][a-z][A-Z])[A-Za-z0-9]{16,}/g),this.dot=new k(e,/\./g),this.headers=new h(e,/[\w-]*/y),this.payloads=new h(e,/[\w-]*/y),this.signatures=new h(e,/[\w-]*/y),this.bearers=new h(e,/[\w.~+/=-]*/y),this.authorities=new h(e,/[^\s/?#'"`<>\\]*/y),this.azure=new h(e,/[\w.~-]*/y)}text;bodies=new Map;digit;part;dot;headers;payloads;signatures;bearers;authorities;azure;ends=null;wordsTo=-1;areWords=!1;secretAt(e,n){let s=n.length>Xt?void 0:Ht.find(({mark:o})=>o.test(n));if(s!==void 0)return this.marked(e,e+n.length,s);if(n.startsWith(":"))return this.password(e+n.length);if(n.startsWith("-----"))return this.privateKey(e);if(n.endsWith("Q~"))return this.azureSecret(e);if(!L(this.text,e))return null;if(n==="eyJ")return this.webToken(e);let r=H(n);if(r.length===0)return this.credentials(e+n.length,Qt.test(n));for(let{form:o,prefixLength:i}of r){let a=this.token(e,e+i,o);if(a!==null)return a}return null}runsOf(e){let n=this.bodies.get(e);return n===void 0&&(n=new h(this.text,Y[e]()),this.bodies.set(e,n)),n}token(e,n,{kind:s,body:r,least:o,most:i,holds:a}){let l=Math.min(this.runsOf(r).endFrom(n),n+y);for(;l>n&&".:".includes(this.text[l-1]);)l--;return l-n<o||l-n>i||a!==null&&!this[a].isIn(n,l)?null:this.isRandom(n,l)?{kind:s,from:e,to:l}:null}isRandom(e,n){return this.digit.isIn(e,n)?!0:(this.wordsTo!==n&&(this.wordsTo=n,this.areWords=f(this.text.slice(e,Math.min(n,e+Vt)))),!this.areWords)}marked(e,n,s){let{kind:r,before:o,mostBefore:i,after:a,least:l,most:d}=s;if(!(r==="telegram"?/\d/:/\w/).test(this.text[e-1]??""))return null;let c=this.runsOf(a).endFrom(n);for(;c>n&&this.text[c-1]===".";)c--;if(c-n<l||c-n>d)return null;let u=o.exec(this.text.slice(Math.max(0,e-i),e))?.[0];return u===void 0?null:{kind:r,from:e-u.length,to:c}}azureSecret(e){let n=e-3;if(n<0||!/^[\w.~-]{3}$/.test(this.text.slice(n,e))||!L(this.text,n))return null;let s=this.azure.endFrom(e+3);return s-e<34||s-e>43?null:{kind:"azure",from:n,to:s}}webToken(e){let{text:n}=this,s=this.headers.endFrom(e);if(s-e<8||s-e>y||!n.startsWith(".eyJ",s))return null;let r=this.payloads.endFrom(s+1);if(r-s<9||r-s>M||n[r]!==".")return null;let o=Math.min(this.signatures.endFrom(r+1),r+1+M);return o-r<6?null:{kind:"jwt",from:e,to:o}}credentials(e,n){let s=Math.min(this.bearers.endFrom(e),e+M);return s-e<8||qt(this.text.slice(e,Math.min(s,e+40)))||n&&!Yt.test(this.text.slice(e,Math.min(s,e+y)))?null:{kind:"authorization",from:e,to:s}}password(e){let{text:n}=this,s=this.authorities.endFrom(e),r=s-1;for(;r>e&&n[r]!=="@";)r--;let o=e+(Jt.exec(n.slice(e,Math.min(r,e+y)))?.[0].length??0);for(;o<r&&n[o]!==":";)o++;o++;let i=n.slice(o,Math.min(r,o+y));return o>=r||Wt.test(i)||jt.test(i)||n.startsWith(`${i}:`,e)&&Ut.test(n.slice(r,s))?null:{kind:"password",from:o,to:r}}privateKey(e){let n=ee(this.text,e+11);if(n===null||!n.includes("PRIVATE KEY"))return null;this.ends??=this.lastLines();let s=this.nextEnd(this.ends.get(n),e);return s!==null&&s-e<=Pt?{kind:"private-key",from:e,to:s}:(X.lastIndex=e+11+n.length+5,X.test(this.text)?{kind:"private-key",from:e,to:s??this.text.length}:null)}lastLines(){let e=new Map;for(let{index:n}of this.text.matchAll(/-----END /g)){let s=ee(this.text,n+9);if(s===null||!s.includes("PRIVATE KEY"))continue;let r=n+9+s.length+5,o=e.get(s);o===void 0?e.set(s,[r]):o.push(r)}for(let n of e.values())n.reverse();return e}nextEnd(e,n){for(;e?.length&&e.at(-1)<=n;)e.pop();return e?.at(-1)??null}},en=/[_-][A-Za-z0-9]{30,}/g,tn=/(?<![\w/+=.-])[A-Za-z][A-Za-z0-9]{1,15}(?:[_-][A-Za-z0-9]{1,8}){0,3}$/,nn=52,sn=/^[0-9a-f]{30}/,rn=/^(?:sha\d|md5|commit|chunk|index|asset|file|img|image|etag|msg|call|toolu|req|chatcmpl)/i;function*on(t){for(let{0:e,index:n}of t.matchAll(en)){let s=e.slice(1,y);if(sn.test(s)||!/[a-z]/.test(s)||!/[A-Z]/.test(s)||!/\d/.test(s)||f(s))continue;let r=tn.exec(t.slice(Math.max(0,n-nn),n))?.[0];r===void 0||rn.test(r)||/[\w+/=]/.test(t[n+e.length]??"")||(yield{kind:"token",from:n-r.length,to:n+e.length})}}function*an(t){let e=new Z(t),n=0;w.lastIndex=0;for(let s=w.exec(t);s!==null;s=w.exec(t)){let r=e.secretAt(s.index,s[0]);w.lastIndex=s.index+1,!(r===null||r.from<n)&&(n=r.to,w.lastIndex=n,yield r,w.lastIndex=n)}}function ln(t,e,n){let s="",r=0;for(let{kind:o,from:i,to:a}of e){let l=t.slice(i,a).replace(/[^\n]/g,"");s+=`${t.slice(r,i)}[redacted:${o}]${l}`,n?.add(o),r=a}return s+t.slice(r)}function te(t,e){return[an,Q,j,on].reduce((s,r)=>ln(s,r(s),e),t)}return le(cn);})();


// main.mjs
import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { fileURLToPath } from "node:url";

// events.mjs
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
  "tool.execute.after": "tool"
}, nameOf = (event) => textOf(event, "hook_event_name", "hookEventName", "hook") ?? "", kindOf = (event) => KINDS[nameOf(event).toLowerCase()] ?? "other", CHANGES = /edit|write|creat|replace|insert|patch|delete|remove|rename|move|notebook/i, RUNS = /bash|shell|terminal|exec|command|run|cmd/i, runsCommands = (tool) => RUNS.test(tool), toolOf = (event) => textOf(event, "tool_name", "toolName") ?? textOf(event.input, "tool") ?? "";
function isWorkOf(event) {
  if (/^after(Shell|File)/.test(nameOf(event))) return !0;
  let tool = toolOf(event);
  return !/^mcp(__|_|:)/i.test(tool) && (CHANGES.test(tool) || RUNS.test(tool));
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

// send.mjs
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
    }, timer = setTimeout(() => fail("no answer in time"), Math.max(0, until - Date.now())), sent = request(url, {
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
        pieces.push(piece), size += piece.length, size > LARGEST_ANSWER && fail("its answer is too long");
      }), response.on("error", (error) => fail(error.message)), response.on("aborted", () => fail("its answer broke off")), response.on("end", () => {
        if (clearTimeout(timer), !response.complete) return fail("its answer broke off");
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
function senderTo({ spool, url, key, until }) {
  let told = Math.min(spool.state().toldLost ?? 0, spool.lost()), hasAnswered = !1;
  async function ask(records, answer) {
    let lost = spool.lost(), events = records.map(({ id, at, event, place }) => ({ id, at, event, place })), body = JSON.stringify({
      events,
      ...answer ? { answer } : {},
      ...lost > told ? { lost: lost - told } : {}
    }), { status, text } = await post(`${url}/api/v1/hooks/${records[0].client}`, { key, body, until });
    if (status === 400 || status === 413) return null;
    if (status < 200 || status > 299) throw new NoAnswer(`it answered ${status}`, status);
    let read2 = readAnswer(text);
    if (read2 === null) throw new NoAnswer("what it answered is none of ours");
    return told = lost, hasAnswered = !0, read2;
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
    /** All that waits, oldest first, until the time is up. @returns what the server had to say */
    async waiting() {
      let notice;
      for (; ; ) {
        let batch = batchOf(spool, spool.names());
        if (batch.length === 0) return notice;
        notice = (await deliver(batch))?.notice ?? notice;
      }
    },
    /** How many lost events the server knows of. */
    told: () => told,
    /** Whether it answered at all: then what is not sent in time waits, and nobody is to be told that it is away. */
    hasAnswered: () => hasAnswered
  };
}

// settings.mjs
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
    given(named) !== "" && (flaw ??= `${CALLED[from]} is not a URL that begins with http:// or https://`);
  }
  return { url: DEFAULT_URL, key: "", from: "default", flaw };
}

// bridge.mjs
var LONGEST_CALL_MS = 6e4, LONGEST_LIST_MS = 5e3, VERSION = "2025-06-18", VERSIONS = [VERSION, "2025-11-25", "2025-03-26", "2024-11-05"];
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
async function bridge({ env, home, input, write }) {
  let { url, key } = settingsOf(env, home), open = /* @__PURE__ */ new Set(), version = VERSION, say = (message) => write(`${JSON.stringify(message)}
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
      message.id !== void 0 && refuse(message.id, -32e3, `no answer from ${url}: ${error.message}`);
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
      let serverInfo = { name: "commonplace", version: "1.0.0-rc.1" };
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
  rest.trim() !== "" && take(rest), await Promise.all(open);
}

// banner:rules
var redact = secretRules.redact;

// clean.mjs
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
}, TELLS_CODE = /^.*(?:\bexit code\b|\bexited with\b|\bexit status\b|\bcommand not found\b).*$/im;
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
    Array.isArray(given2[name]) && kept.push([name, given2[name].slice(0, MOST_ITEMS).filter(isFields).map(toolInput)]);
  return Object.fromEntries(kept);
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
function member(name, value, isTool, isCommand) {
  return isTool ? INPUTS.includes(name) || name === "args" ? toolInput(value) : RESPONSES.includes(name) ? toolResponse(value, isCommand) : ["edits", "output", "content", "command"].includes(name) ? ownMember(name, value) : value : value;
}
function ownMember(name, value) {
  return name === "edits" || name === "content" ? [] : typeof value != "string" ? [] : name === "command" ? commandText(value) : endOf(value);
}
function cleanOpenCode(event, isTool, isCommand) {
  let { input, output } = event, told = isFields(input) && isTool ? { ...input, args: toolInput(input.args) } : input, parts = Array.isArray(output?.parts) ? [
    {
      type: "text",
      text: output.parts.filter((part) => part?.type === "text" && part.synthetic !== !0 && typeof part.text == "string").map(({ text }) => text).join(`
`)
    }
  ] : void 0, answered = isTool ? toolResponse(output, isCommand) : parts === void 0 ? output : { parts };
  return { hook: event.hook, input: told, output: answered, session: event.session };
}
function cleanEvent(event) {
  let isTool = kindOf(event) === "tool" && isWorkOf(event), isCommand = isTool && (runsCommands(toolOf(event)) || event.hook_event_name === "afterShellExecution"), known = event.hook === void 0 ? Object.fromEntries(
    Object.entries(event).filter(([name]) => !UNREAD.has(name)).map(([name, value]) => [name, member(name, value, isTool, isCommand)])
  ) : cleanOpenCode(event, isTool, isCommand);
  return [LONGEST_TEXT, 500, 100].map((length) => shorten(known, length)).find((made) => Buffer.byteLength(JSON.stringify(made)) <= LARGEST_EVENT) ?? Object.fromEntries(Object.entries(shorten(known, 100)).filter(([, value]) => typeof value == "string"));
}

// place.mjs
import { readFileSync as readFileSync2, statSync } from "node:fs";
import { basename, dirname, join as join2, resolve } from "node:path";
var read = (file) => {
  try {
    return readFileSync2(file, "utf8");
  } catch {
    return null;
  }
}, isFolder = (path) => statSync(path, { throwIfNoEntry: !1 })?.isDirectory() === !0;
function repositoryOf(folder) {
  for (let at = resolve(folder); ; at = dirname(at)) {
    let git = join2(at, ".git");
    if (isFolder(git)) return { root: at, own: at, git, common: git };
    let linked = /^gitdir: *(.+)$/m.exec(read(git) ?? "")?.[1];
    if (linked !== void 0) {
      let own = resolve(at, linked.trim()), shared = read(join2(own, "commondir")), common = shared === null ? own : resolve(own, shared.trim());
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
var RECALLS = ["all", "start", "off"];
function wishesIn(folder) {
  try {
    return readFileSync2(join2(folder, ".commonplace.json"), "utf8");
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
  let given2 = textOf(event, "cwd") ?? event.workspace_roots?.find?.((root) => typeof root == "string") ?? textOf(event.session, "directory"), started = env.CLAUDE_PROJECT_DIR || process.cwd(), repository = repositoryOf(given2 ?? started), folder = repository?.root ?? resolve(env.CLAUDE_PROJECT_DIR || given2 || started), wishes = wishesOf(repository === null ? [folder] : [repository.own, repository.root]), remote = repository === null ? void 0 : remoteOf(read(join2(repository.common, "config")) ?? ""), branch = repository === null ? void 0 : /^ref: refs\/heads\/(.+)$/m.exec(read(join2(repository.git, "HEAD")) ?? "")?.[1];
  return {
    place: {
      folder: folder === resolve(home) ? "/" : folder,
      ...remote === void 0 ? {} : { remote },
      ...branch === void 0 ? {} : { branch: branch.trim() },
      ...textOf(wishes, "project") === void 0 ? {} : { project: wishes.project },
      ...wishes.audience === "project" ? { audience: "project" } : {},
      ...wishes.capture === !1 ? { capture: !1 } : {}
    },
    recall: RECALLS.includes(wishes.recall) ? wishes.recall : "all",
    isUnreadable: wishes.isUnreadable === !0
  };
}

// spool.mjs
import * as fs from "node:fs";
import { join as join3 } from "node:path";
var MOST_EVENTS2 = 2e3, MOST_BYTES2 = 8 * 1048576, LONGEST_WAIT_MS = 6 * 864e5, OLDEST_LOCK_MS = 1e4, OLDEST_DRAFT_MS = 6e4, NAME = /^\d{13}-[0-9a-f]{64}\.json$/, folderOf = (home) => join3(home, ".commonplace");
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
  let own = folderOf(home), folder = join3(own, "spool"), [lock, lostFile, stateFile] = ["sender.lock", "lost", "state.json"].map((name) => join3(own, name));
  quietly(() => fs.mkdirSync(folder, { recursive: !0, mode: 448 }));
  let filesIn = (where) => quietly(() => fs.readdirSync(where), []), names = () => filesIn(folder).filter((name) => NAME.test(name)).sort(), remove = (name) => quietly(() => fs.rmSync(join3(folder, name), { force: !0 })), read2 = (name) => quietly(() => JSON.parse(fs.readFileSync(join3(folder, name), "utf8")), null), lose = (name) => {
    quietly(() => fs.appendFileSync(lostFile, `${name.slice(14, 78)}
`, { mode: 384 })), remove(name);
  }, lostIds = () => new Set(
    quietly(() => fs.readFileSync(lostFile, "utf8"), "").split(`
`).filter(Boolean)
  ), bound = (now) => {
    let all = names(), old = all.filter((name) => Number(name.slice(0, 13)) < now - LONGEST_WAIT_MS);
    for (let name of old) lose(name);
    let waiting = all.slice(old.length);
    if (waiting.length * LARGEST_EVENT <= MOST_BYTES2) return;
    let sizes = new Map(
      waiting.map((name) => [name, fs.statSync(join3(folder, name), { throwIfNoEntry: !1 })?.size ?? 0])
    ), [count, bytes] = [waiting.length, [...sizes.values()].reduce((sum, size) => sum + size, 0)];
    if (count <= MOST_EVENTS2 && bytes <= MOST_BYTES2) return;
    let isTool = new Map(waiting.map((name) => [name, kindOf(read2(name)?.event ?? {}) === "tool"]));
    for (let name of [...waiting.filter((one) => isTool.get(one)), ...waiting.filter((one) => !isTool.get(one))]) {
      if (count <= MOST_EVENTS2 && bytes <= MOST_BYTES2) return;
      lose(name), count--, bytes -= sizes.get(name);
    }
  };
  return {
    names,
    read: read2,
    remove,
    lose,
    bound,
    lost: () => lostIds().size,
    /** @returns the name of its file; that of the one that waits already, where two hooks tell of one event; null where none can be written */
    put(record) {
      let all = names(), there = all.find((name2) => name2.includes(record.id));
      if (there !== void 0) return there;
      let name = `${String(record.at).padStart(13, "0")}-${record.id}.json`;
      return quietly(() => writeWhole(join3(folder, name), JSON.stringify(record)), !1) ? (all.length * LARGEST_EVENT >= MOST_BYTES2 && bound(record.at), name) : null;
    },
    /** What is remembered of the server: when it last answered, since when not, and why. */
    state: () => quietly(() => JSON.parse(fs.readFileSync(stateFile, "utf8")), {}),
    remember: (state) => quietly(() => writeWhole(stateFile, JSON.stringify(state))),
    /** Once a server and the person know of what was lost. */
    forgetLost: () => quietly(() => fs.rmSync(lostFile, { force: !0 })),
    /** Drafts of programs that were killed. */
    sweep(now) {
      for (let [where, name] of [folder, own].flatMap((at) => filesIn(at).map((one) => [at, one])))
        name.endsWith(".draft") && (fs.statSync(join3(where, name), { throwIfNoEntry: !1 })?.mtimeMs ?? now) < now - OLDEST_DRAFT_MS && fs.rmSync(join3(where, name), { force: !0 });
    },
    /** @returns {(() => void) | null} how to let it go; null while another sends */
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

// run.mjs
var LONGEST_MS = { start: 2e3, prompt: 2e3, other: 1e3 }, NEVER = ["decision", "continue", "stopReason"], clock = (ms) => new Date(ms).toTimeString().slice(0, 5), counted = (count) => `${count} ${count === 1 ? "event waits" : "events wait"}`;
function messageOf({ url, flaw, state, waiting, lost, isOff, isUnreadable, unwritten, notice }) {
  let said = [];
  return flaw !== null && said.push(`${flaw}, so ${url} is asked`), state.status === 401 || state.status === 403 ? said.push(`${url} refuses the key, ${counted(waiting)}`) : state.failedSince !== void 0 && said.push(`no answer from ${url} since ${clock(state.failedSince)}, ${counted(waiting)}`), isUnreadable ? said.push(".commonplace.json cannot be read as a JSON object: nothing is captured here") : isOff && said.push("capture is off here (.commonplace.json)"), unwritten !== null && said.push(`${unwritten} cannot be written: uses of tools are lost`), lost > 0 && said.push(`${lost} ${lost === 1 ? "event was" : "events were"} lost`), typeof notice == "string" && notice !== "" && said.push(notice.replace(/\s+/g, " ").slice(0, 500)), said.length === 0 ? null : `commonplace: ${said.join("; ")}`;
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
  let at = Date.now(), until = at + (LONGEST_MS[kind] ?? 0), { place, recall, isUnreadable } = placeOf(event, env, home), isOff = place.capture === !1, isAsked = (kind === "start" ? recall !== "off" : kind === "prompt" && recall === "all") && !(client === "cursor" && kind === "prompt"), spool = openSpool(home), record = { client, id: idOf(client, event), at, event: cleanEvent(event), place };
  if (isOff && kind !== "start" && !isAsked) return nothing;
  let name = isOff ? null : spool.put(record), isUnwritten = !isOff && name === null;
  if (kind === "tool") return nothing;
  let { url, key, flaw } = settingsOf(env, home), sender = senderTo({ spool, url, key, until }), lost = spool.lost(), [output, notice, error] = [null, void 0, null];
  try {
    if (isAsked || isUnwritten || name !== null && (kind === "start" || kind === "prompt")) {
      let answer = await sender.ask([record], isAsked ? record.id : void 0);
      name !== null && (answer === null ? spool.lose(name) : spool.remove(name)), output = allowed(answer?.output), notice = answer?.notice;
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
    notice
  });
  return error === null && sender.told() >= lost && lost > 0 && (spool.forgetLost(), spool.remember({ ...state, toldLost: 0 })), { ...nothing, output, message };
}
function printed({ client, kind, output, message }) {
  if (kind !== "start" && kind !== "prompt") return { out: "", err: "" };
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

// main.mjs
var LONGEST_RUN_MS = 2500;
async function hook(argument, around) {
  let text = "";
  process.stdin.setEncoding("utf8");
  for await (let piece of process.stdin) text += piece;
  let event = jsonIn(text);
  if (!isFields(event)) return;
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
    return realpathSync(process.argv[1] ?? "") === realpathSync(fileURLToPath(import.meta.url));
  } catch {
    return !1;
  }
}
isProgram() && main();
export {
  handle
};
