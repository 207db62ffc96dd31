import { RECORDS } from './style-records'
import { versioned } from './versioned'

/** Colors, type, space, and the look of single elements. One accent color; everything else is ink on paper. */
export const BASE = `
:root{color-scheme:light dark;
--paper:light-dark(#fbfaf8,#131210);--card:light-dark(#fff,#1b1a17);--sunken:light-dark(#f4f2ee,#23211e);
--ink:light-dark(#1d1c19,#eeece7);--soft:light-dark(#615d56,#a8a399);--line:light-dark(#e8e5df,#2e2b27);
--edge:light-dark(#8c877e,#7d786e);--accent:light-dark(#0b6b5d,#63cdb7);--on-accent:light-dark(#fff,#06231e);
--tint:light-dark(#e3f1ee,#17312c);--bad:light-dark(#a3261b,#ff9c90);--bad-tint:light-dark(#fbeae7,#3a1d19);
--add:light-dark(#e2f3e6,#152d1d);--cut:light-dark(#fbe8e5,#371c18);--add-strong:light-dark(#b4e0bf,#245a36);
--cut-strong:light-dark(#f5c3bc,#6b2c25);--mark:light-dark(#fbe7a1,#5e4a0c);--bar:light-dark(#2f9c8a,#46a995);
--side:light-dark(#f4f2ee,#0f0e0d);--here:light-dark(#fff,#23211e);--warn:light-dark(#8a5a00,#f0c060);
--warn-tint:light-dark(#fbf1d9,#33280f);--lift:light-dark(rgb(28 27 24/.16),rgb(0 0 0/.6));
--dim:light-dark(rgb(28 27 24/.32),rgb(0 0 0/.55));
--s1:.25rem;--s2:.5rem;--s3:.75rem;--s4:1rem;--s5:1.5rem;--s6:2rem;--s7:3rem;--round:.5rem;
--shadow:0 1px 2px light-dark(rgb(28 27 24/.06),transparent);--raised:0 8px 30px var(--lift),0 1px 3px var(--lift);
--sans:Inter,ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
--mono:ui-monospace,SFMono-Regular,"JetBrains Mono",Menlo,Consolas,"Liberation Mono",monospace}
[data-theme=light]{color-scheme:light}[data-theme=dark]{color-scheme:dark}
*,*::before,*::after{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-behavior:smooth}
body{margin:0;background:var(--paper);color:var(--ink);font:400 .9063rem/1.55 var(--sans);overflow-wrap:anywhere;
font-variant-numeric:tabular-nums;-webkit-font-smoothing:antialiased}
h1,h2,h3{line-height:1.3;margin:0;text-wrap:balance;letter-spacing:-.011em}
h1{font-size:1.4375rem;font-weight:650;letter-spacing:-.018em}
h2{font-size:.9688rem;font-weight:620}
h3{font-size:.9063rem;font-weight:600}
p{margin:0}
a{color:var(--accent);text-underline-offset:.2em;text-decoration-thickness:1px;
text-decoration-color:color-mix(in srgb,currentColor 45%,transparent)}
a:hover{text-decoration-color:currentColor}
a.quiet{color:inherit;text-decoration-color:var(--edge)}
ul,ol,dl{margin:0;padding:0;list-style:none}dd{margin:0}
strong{font-weight:600}
bdi.name{unicode-bidi:isolate}
.soft{color:var(--soft)}
.num{text-align:right;white-space:nowrap}
code,pre,textarea.code{font:.8125rem/1.6 var(--mono)}
pre{margin:0;padding:var(--s3) var(--s4);overflow-x:auto;background:var(--sunken);border-radius:var(--round)}
pre.text{white-space:pre-wrap;font:inherit;background:none;padding:0;border-radius:0;unicode-bidi:plaintext}
pre.text[data-long]{unicode-bidi:isolate}
hr{border:0;border-top:1px solid var(--line);margin:var(--s4) 0}
time{white-space:nowrap}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:.25rem}
main:focus{outline:none}
.icon,.mark{fill:none;stroke:currentColor;stroke-width:1.5;stroke-linecap:round;stroke-linejoin:round;flex:none}
.mark{color:var(--accent);stroke-width:1.75}
.skip{position:fixed;left:var(--s4);top:-4rem;z-index:9;background:var(--card);padding:var(--s2) var(--s4);border-radius:var(--round)}
.skip:focus{top:var(--s4);box-shadow:var(--raised)}
label{display:block;font-weight:550;font-size:.8125rem;margin-bottom:.3rem}
input,select,textarea{width:100%;min-height:2.375rem;padding:.35rem .65rem;font:inherit;color:var(--ink);background:var(--card);
border:1px solid var(--edge);border-radius:.4375rem}
input::placeholder,textarea::placeholder{color:var(--soft);opacity:1}
input[type=checkbox],input[type=radio]{flex:none;width:1.05rem;min-height:1.05rem;accent-color:var(--accent);margin:0}
input[type=file]{padding:.3rem}
input::file-selector-button{font:550 .8125rem/1.3 var(--sans);color:var(--ink);background:var(--sunken);border:0;border-radius:.3rem;
padding:.4rem .7rem;margin-right:.6rem;cursor:pointer}
textarea{resize:vertical;line-height:1.6;field-sizing:content;min-height:8lh;max-height:70vh}
.hint,.nothing p,.head p{text-wrap:pretty}
.hint{color:var(--soft);font-size:.8125rem;margin-top:var(--s1)}
button,.button{display:inline-flex;align-items:center;justify-content:center;gap:var(--s2);min-height:2.375rem;padding:.3rem .9rem;
font:550 .875rem/1.3 var(--sans);color:var(--ink);background:var(--card);border:1px solid var(--edge);border-radius:.4375rem;
cursor:pointer;text-decoration:none;overflow-wrap:normal;box-shadow:var(--shadow)}
button:hover,.button:hover{background:var(--sunken)}
button.main,.button.main{color:var(--on-accent);background:var(--accent);border-color:var(--accent)}
button.main:hover,.button.main:hover{filter:brightness(1.1)}
button.bad,.button.bad{color:var(--bad);border-color:color-mix(in srgb,var(--bad) 55%,var(--card));background:var(--card)}
button.bad:hover,.button.bad:hover{background:var(--bad-tint)}
button.small,.button.small{min-height:1.875rem;padding:.15rem .65rem;font-size:.8125rem}
button.plain{border-color:transparent;background:none;box-shadow:none;color:var(--soft);font-weight:450}
summary{cursor:pointer;font-weight:550}
summary::marker{color:var(--soft)}
@media (max-width:40rem){summary{padding-block:.45rem}button.small,.button.small{min-height:2.25rem}}
table{width:100%;border-collapse:collapse}
th{font-weight:550;font-size:.8125rem;color:var(--soft);text-align:left}
th,td{padding:.55rem var(--s4) .55rem 0;vertical-align:top;border-bottom:1px solid var(--line)}
tbody tr:last-child>td,tbody tr:last-child>th{border-bottom:0}
th:last-child,td:last-child{padding-right:0}
tbody th{color:inherit;font-size:inherit;font-weight:450}
kbd,.key{font:550 .6875rem/1 var(--mono);padding:.18rem .34rem;border:1px solid currentColor;border-radius:.25rem;opacity:.85}
mark{background:var(--mark);color:var(--ink);border-radius:.15rem;padding:0 .1em}
@media (prefers-reduced-motion:no-preference){a,button,.button{transition:background-color .12s,color .12s,filter .12s}}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
`

/** The frame around pages, and parts that many pages share. */
export const LAYOUT = `
.shell{min-height:100vh}
.side{position:sticky;top:0;z-index:3;display:flex;align-items:center;gap:var(--s3);padding:var(--s2) var(--s4);
border-bottom:1px solid var(--line);background:var(--card)}
.brand{display:flex;align-items:center;gap:var(--s2);font-weight:650;font-size:1rem;letter-spacing:-.012em;color:inherit;
text-decoration:none;min-height:2.375rem}
.side .brand{flex:none}
.waiting{padding:0 .4rem;border-radius:1rem;background:var(--tint);color:var(--accent);font-size:.75rem;line-height:1.5;font-weight:550;
position:relative}
.quick{flex:1;min-width:0}
.quick form{position:relative}
.quick .icon{position:absolute;left:.7rem;top:.72rem;color:var(--soft);pointer-events:none}
.quick input{padding-left:2.1rem;border-color:var(--line);background:var(--sunken)}
.quick .key{display:none}
.menu-button{flex:none;margin-left:auto}
.menu[popover]{position:fixed;inset:3.4rem .5rem auto auto;width:min(19rem,calc(100vw - 1rem));max-height:calc(100dvh - 4rem);overflow-y:auto;
margin:0;padding:var(--s3);border:1px solid var(--line);border-radius:.75rem;background:var(--card);color:inherit;box-shadow:var(--raised)}
.menu::backdrop{background:var(--dim)}
.menu nav,.menu nav ul{display:grid;gap:.1rem}
.menu nav ul+ul{border-top:1px solid var(--line);padding-top:var(--s2);margin-top:var(--s2)}
.menu nav a{display:flex;align-items:center;gap:.6rem;padding:.3rem .6rem;min-height:2.5rem;color:var(--soft);font-weight:480;
text-decoration:none;border-radius:.4375rem}
.menu nav a:hover{color:var(--ink);background:color-mix(in srgb,var(--ink) 6%,transparent)}
.menu nav a[aria-current]{color:var(--accent);font-weight:600;background:var(--tint)}
.menu nav .waiting{margin-left:auto}
.foot{display:grid;gap:var(--s3);margin-top:var(--s3);padding:var(--s3) .6rem 0;border-top:1px solid var(--line);font-size:.8125rem}
.who{display:flex;flex-wrap:wrap;gap:var(--s2) var(--s3);align-items:center;justify-content:space-between;min-width:0}
.who p{display:grid;line-height:1.4;min-width:0}
.who button{flex:none}
.about{display:flex;gap:var(--s3);align-items:center;justify-content:space-between;min-width:0}
.theme{display:flex;flex:none;padding:.125rem;border-radius:.5rem;
background:color-mix(in srgb,var(--ink) 7%,transparent)}
.theme button{position:relative;min-height:1.75rem;width:2rem;padding:0;border:0;background:none;box-shadow:none;color:var(--soft)}
.theme button:hover{color:var(--ink)}
.theme button[aria-pressed=true]{background:var(--here);color:var(--accent);box-shadow:var(--shadow)}
main{width:100%;padding:var(--s5) var(--s4) var(--s7);max-width:74rem;margin:0 auto}
main,main [id]{scroll-margin-top:4rem}
main.door{max-width:29rem;padding-top:12vh}
.door .brand{margin-bottom:var(--s5)}
@media (max-width:30rem){.side .brand span{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}}
@media (min-width:60rem){
.shell{display:grid;grid-template-columns:15rem minmax(0,1fr)}
.side{height:100vh;overflow-y:auto;flex-direction:column;align-items:stretch;gap:0;
padding:var(--s5) var(--s3) var(--s4);border-bottom:0;border-right:1px solid var(--line);background:var(--side)}
.side .brand{padding:0 .6rem;min-height:0}
.quick{flex:none;margin:var(--s4) 0 0}
.quick .icon{left:.65rem;top:.55rem}
.quick input{background:var(--card);border-color:var(--edge);padding-right:2.2rem;min-height:2.125rem;font-size:.8438rem}
.quick .key{display:block;position:absolute;right:.55rem;top:.5rem;color:var(--soft)}
.menu-button{display:none}
.menu[popover]{position:static;display:flex;flex:1;flex-direction:column;width:auto;max-height:none;overflow:visible;padding:0;border:0;
background:none;box-shadow:none;margin-top:var(--s4)}
.menu nav ul+ul{padding-top:var(--s3);margin-top:var(--s3)}
.menu nav a{min-height:2rem}
.menu nav a[aria-current]{background:var(--here);box-shadow:var(--shadow)}
.foot{margin-top:auto;padding:var(--s4) .6rem 0;border-top:0}
main{padding:var(--s6) var(--s6) var(--s7)}
main,main [id]{scroll-margin-top:1rem}
}
.toast{position:fixed;z-index:4;left:50%;bottom:var(--s5);transform:translateX(-50%);width:max-content;max-width:min(36rem,calc(100vw - 2rem));
display:flex;flex-wrap:wrap;gap:var(--s2) var(--s4);align-items:center;justify-content:space-between;padding:var(--s2) var(--s3) var(--s2) var(--s4);
border-radius:.625rem;background:var(--ink);color:var(--paper);box-shadow:var(--raised)}
.toast a{color:inherit}.toast button,.toast .button{background:none;color:inherit;border-color:color-mix(in srgb,currentColor 45%,transparent);
box-shadow:none;min-height:1.875rem}
.toast button:hover,.toast .button:hover{background:color-mix(in srgb,currentColor 15%,transparent)}
.toast button.close{border:0;padding:.15rem .5rem}
@media (prefers-reduced-motion:no-preference){.toast{animation:rise .18s ease-out}@keyframes rise{from{opacity:0;translate:0 .5rem}}}
[data-row]:focus-within,[data-row].at{background:var(--sunken)}
.list>[data-row]:focus-within,.changes>[data-row]:focus-within{box-shadow:-1rem 0 0 var(--sunken),1rem 0 0 var(--sunken),calc(-1rem - 2px) 0 0 var(--accent)}
dialog{width:min(38rem,calc(100vw - 2rem));max-height:min(34rem,calc(100dvh - 4rem));margin:10vh auto auto;padding:0;overflow:hidden;
border:1px solid var(--line);border-radius:.75rem;background:var(--card);color:var(--ink);box-shadow:var(--raised)}
dialog::backdrop{background:var(--dim)}
dialog[open]{display:flex;flex-direction:column}
dialog>.card{margin:0;border:0;box-shadow:none;overflow-y:auto}
dialog .dialog-head{position:absolute;right:var(--s3);top:.8rem}
.palette input{border:0;border-bottom:1px solid var(--line);border-radius:0;background:none;min-height:3.25rem;padding:0 var(--s4);font-size:1rem}
.palette input:focus-visible{outline:0}
.palette ul{overflow-y:auto;padding:var(--s2)}
.palette li{display:grid;grid-template-columns:minmax(0,1fr) auto;gap:0 var(--s4);padding:.45rem .65rem;border-radius:.4375rem;cursor:pointer;
align-items:baseline}
.palette li>span{color:var(--soft);font-size:.8125rem}
.palette li>bdi{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.palette li[aria-selected=true]{background:var(--tint);color:var(--accent)}
.palette p{padding:var(--s2) var(--s4);border-top:1px solid var(--line);color:var(--soft);font-size:.75rem}
.keys{display:grid;gap:var(--s5);margin-top:var(--s4);grid-template-columns:repeat(auto-fit,minmax(min(17rem,100%),1fr))}
.keys-list{display:grid;gap:var(--s2);margin-top:var(--s2)}
.keys-list div{display:grid;grid-template-columns:6.5rem minmax(0,1fr);gap:var(--s3)}
.keys-list dt{white-space:nowrap;color:var(--soft);font-size:.8125rem}.keys-list kbd{color:var(--ink)}
.setting{display:flex;flex-wrap:wrap;gap:var(--s2) var(--s4);align-items:center;justify-content:space-between}
.lined>li{padding:.4rem 0;border-bottom:1px solid var(--line)}.lined>li:last-child{border:0;padding-bottom:0}
.setting.more>*+*{margin-top:0}
.head{display:flex;flex-wrap:wrap;gap:var(--s3) var(--s4);align-items:center;justify-content:space-between;margin-bottom:var(--s5)}
.head h1{min-width:0;flex:1 1 16rem}
.head p{color:var(--soft);flex:0 0 100%;margin-top:calc(var(--s2)*-1)}
.actions{display:flex;flex-wrap:wrap;gap:var(--s2);align-items:center}
.bar-form{display:flex;flex-wrap:wrap;gap:var(--s2);align-items:end}
.bar-form .field{flex:1 1 11rem;max-width:20rem}
.bar-form .button,.bar-form a{align-self:end}
@media (max-width:40rem){.bar-form:has(.field+.field){display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:var(--s3) var(--s2)}
.bar-form:has(.field+.field) .field{min-width:0;max-width:none}.bar-form:has(.field+.field) :is(button,.button){grid-column:1/-1}}
.card{background:var(--card);border:1px solid var(--line);border-radius:.75rem;padding:var(--s4);box-shadow:var(--shadow);
min-width:0}
.card>h2{margin-bottom:var(--s3)}
.card+.card,.stack>*+*{margin-top:var(--s4)}
@media (min-width:40rem){.card{padding:1.25rem var(--s5)}}
.card-head{display:flex;flex-wrap:wrap;justify-content:space-between;align-items:baseline;gap:var(--s1) var(--s4);margin-bottom:var(--s3)}
.card-head a,.card-head p{font-size:.8125rem}
.grid{display:grid;gap:var(--s4);grid-template-columns:minmax(0,1fr)}
.grid>.card{margin:0}
@media (min-width:44rem){.grid{grid-template-columns:repeat(2,minmax(0,1fr))}}
.columns{display:grid;gap:var(--s4);grid-template-columns:minmax(0,1fr)}
.columns>*{min-width:0}.columns .card{margin:0}.columns .card+.card,.columns>div>*+.card{margin-top:var(--s4)}
@media (min-width:66rem){.columns{grid-template-columns:minmax(0,1fr) 19rem;align-items:start}
.columns>.beside{position:sticky;top:var(--s5)}}
.facts{display:flex;flex-wrap:wrap;gap:.1rem var(--s3);align-items:center;color:var(--soft);font-size:.8125rem}
.facts strong{color:var(--ink)}.facts.one{flex-wrap:nowrap;align-items:baseline}
.facts bdi.name,.list bdi.name{min-width:0}
.facts .tags{display:contents}
.kind{display:inline-block;padding:0 .45rem;border-radius:.3rem;background:var(--sunken);color:var(--soft);
font-size:.75rem;font-weight:550;line-height:1.5;white-space:nowrap}
.kind-decision,.kind-rule,.kind-convention,.kind-guide{background:var(--tint);color:var(--accent)}
.kind-gotcha,.kind-error_pattern,.kind-bug_fix{background:var(--bad-tint);color:var(--bad)}
.tags{display:flex;flex-wrap:wrap;gap:var(--s1) var(--s2);font-size:.8125rem}
.tags a{color:var(--soft);text-decoration:none}.tags a::before{content:"#";opacity:.7}.tags a:hover{color:var(--accent);
text-decoration:underline}
.images{display:flex;flex-wrap:wrap;gap:var(--s2)}
.images a{display:block;border-radius:var(--round)}
.images img{display:block;width:10rem;height:7.5rem;max-width:100%;object-fit:cover;border-radius:var(--round);
border:1px solid var(--line);background:var(--sunken)}
.list>li{padding:var(--s4) 0;border-bottom:1px solid var(--line);display:grid;gap:.3rem;min-width:0}
.list>li:last-child{border-bottom:0;padding-bottom:0}.list>li:first-child{padding-top:0}
.list .title{font-weight:600;display:flex;gap:var(--s4);justify-content:space-between;align-items:baseline}
.list .title a{color:inherit;text-decoration:none}.list .title a:hover{color:var(--accent);text-decoration:underline}
.list .title time{font-weight:400;font-size:.8125rem;color:var(--soft)}
.excerpt{color:var(--soft);display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:2;overflow:hidden;unicode-bidi:plaintext}
.rows{background:var(--card);border:1px solid var(--line);border-radius:.75rem;box-shadow:var(--shadow);overflow:hidden}
.rows:empty{display:none}
.rows>li{position:relative;display:grid;grid-template-columns:minmax(0,1fr) auto;gap:0 var(--s4);align-items:center;
padding:.6rem var(--s4);border-bottom:1px solid var(--line)}
.rows>li:last-child{border-bottom:0}
.rows>li:hover{background:var(--sunken)}
.rows .title{font-weight:550}
.rows .title a{color:inherit;text-decoration:none}.rows .title a::after{content:"";position:absolute;inset:0}
.rows .title a:focus-visible{outline:0}.rows .title a:focus-visible::after{outline:2px solid var(--accent);outline-offset:-2px}
.rows .facts{grid-column:1/-1}
@media (max-width:40rem){.rows .facts>:empty{display:none}}
@media (min-width:40rem){.rows>li{padding:.65rem var(--s5)}.rows .facts{grid-column:auto;justify-content:flex-end;display:grid;
grid-template-columns:6rem 7.5rem 5.5rem;text-align:right}}
.note{border-radius:var(--round);background:var(--tint);padding:var(--s2) var(--s4);margin-bottom:var(--s4);display:flex;flex-wrap:wrap;
gap:var(--s2) var(--s4);align-items:center;justify-content:space-between;min-height:2.75rem}
.note.bad{background:var(--bad-tint);color:var(--bad)}
.nothing{padding:var(--s6) var(--s4);text-align:center;color:var(--soft);max-width:34rem;margin:0 auto}
.nothing-title{font-weight:600;color:var(--ink);margin-bottom:var(--s1);font-size:.9688rem}
.pages{display:flex;align-items:center;justify-content:space-between;gap:var(--s3);margin-top:var(--s4);font-size:.8125rem}
.fields{display:grid;gap:var(--s3) var(--s4);grid-template-columns:repeat(auto-fit,minmax(min(13rem,100%),1fr))}
@media (min-width:40rem){.fields.short{grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr))}}
@media (max-width:40rem){.fields.short{grid-template-columns:repeat(2,minmax(0,1fr));gap:var(--s3)}}
.stack-form{display:grid;gap:var(--s4);grid-template-columns:minmax(0,1fr)}
.stack-form>h2{margin:0}
.scroll{overflow-x:auto}.scroll table{min-width:34rem;overflow-wrap:break-word}
.scroll bdi.name{display:inline-block;max-width:min(24rem,60vw);vertical-align:top;text-decoration:inherit}
.copyable{display:flex;align-items:flex-start;background:var(--sunken);border-radius:var(--round)}
.copyable pre{flex:1;min-width:0;white-space:pre-wrap}.copyable button{flex:none;margin:.35rem .35rem .35rem 0}
.clients{display:grid;gap:0 var(--s4);grid-template-columns:repeat(auto-fill,minmax(min(13rem,100%),1fr))}
.clients>details[open]{grid-column:1/-1;margin-bottom:var(--s3)}.clients summary{font-weight:450;padding:.3rem 0}@media (max-width:40rem){.clients summary{padding-block:.55rem}}
.more{margin-top:var(--s3)}.more:not(.fields,.actions,.clients,.facts-list,.prose,.toc)>*+*{margin-top:var(--s3)}
.hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
`

/** Styles of single pages. */
export const PAGES = `
.tiles{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));background:var(--card);border:1px solid var(--line);
border-radius:.75rem;box-shadow:var(--shadow);margin-bottom:var(--s4)}
.tiles>div{padding:var(--s4)}
.tiles>div:nth-child(even){border-left:1px solid var(--line)}.tiles>div:nth-child(n+3){border-top:1px solid var(--line)}
.tiles dt{color:var(--soft);font-size:.8125rem}
.tiles dd{font-size:1.5rem;font-weight:620;line-height:1.3;letter-spacing:-.022em}
.tiles dd small{display:block;font-size:.8125rem;font-weight:400;color:var(--soft);letter-spacing:0}
@media (min-width:48rem){.tiles{grid-template-columns:repeat(4,minmax(0,1fr))}.tiles>div+div{border-left:1px solid var(--line)}
.tiles>div:nth-child(n+3){border-top:0}.tiles>div{padding:var(--s4) var(--s5)}}
.days svg{display:block;width:100%;height:8.5rem;margin-top:var(--s4);overflow:visible}
.days summary{font-weight:450;font-size:.8125rem;color:var(--soft)}
.days .sum{font-size:1.5rem;font-weight:620;letter-spacing:-.022em;line-height:1.2}
.days .sum small{font-size:.8125rem;font-weight:400;letter-spacing:0;color:var(--soft)}
.days .line{stroke:var(--line);stroke-width:1;vector-effect:non-scaling-stroke}
.days .day{fill:var(--bar)}
.days rect.hit{fill:transparent}.days a:hover .day{fill:var(--accent)}.days a:hover .hit{fill:var(--sunken)}
.ranges{display:flex;gap:.1rem}.ranges a{padding:.15rem .5rem;border-radius:.3rem;color:var(--soft);text-decoration:none;font-size:.8125rem}
.ranges a[aria-current]{background:var(--sunken);color:var(--ink);font-weight:550}
p+.changes{margin-top:var(--s4)}
.attention{display:grid;gap:0}
.attention li{display:flex;flex-wrap:wrap;gap:0 var(--s4);justify-content:space-between;align-items:baseline;padding:.5rem 0;
border-bottom:1px solid var(--line)}
.attention li:last-child{border-bottom:0;padding-bottom:0}.attention strong{font-variant-numeric:tabular-nums}
.counts{margin-top:var(--s4);align-items:start}
.waits{display:flex;flex-wrap:wrap;gap:var(--s2) var(--s5);align-items:center;margin-bottom:var(--s4)}.waits>h2{margin:0}
.waits ul{display:flex;flex-wrap:wrap;gap:var(--s2)}.waits ul:empty{display:none}
.waits li>a{display:block;padding:.2rem .7rem;border-radius:1rem;background:var(--tint);color:var(--accent);text-decoration:none}
.waits li>a:hover{text-decoration:underline}
.checklist{display:grid;gap:var(--s2)}.checklist li{display:grid;grid-template-columns:1.6rem minmax(0,1fr);gap:0 var(--s3);align-items:start}
.checklist li::before{content:"";width:1.25rem;height:1.25rem;margin-top:.15rem;border:1.5px solid var(--edge);border-radius:50%}
.checklist li.done::before{content:"✓";display:grid;place-items:center;border-color:var(--accent);background:var(--accent);
color:var(--on-accent);font-size:.75rem;font-weight:700}
.checklist li.done{color:var(--soft)}.checklist summary{font-weight:450}.checklist details[open]>.stack{padding:var(--s3) 0}
.line{display:flex;justify-content:space-between;gap:var(--s3);margin-top:var(--s3)}
.scale{display:flex;justify-content:space-between;color:var(--soft);font-size:.75rem;margin-top:var(--s2)}
.bars td,.bars th{padding:.28rem var(--s3) .28rem 0;border:0}
.bars th{width:45%}.bars th a{text-decoration-color:transparent}.bars th a:hover{text-decoration-color:currentColor}
.bars td.bar{vertical-align:middle}
.bars svg{display:block;width:100%;height:.4rem;border-radius:.2rem}
.bar rect{fill:var(--bar)}.bar rect.track{fill:var(--sunken)}
.meter{display:grid;gap:.3rem}.meter+.meter{margin-top:var(--s3)}
.meter p{display:flex;justify-content:space-between;gap:var(--s3)}
.meter svg{display:block;width:100%;height:.35rem;border-radius:.2rem}
.meter rect{fill:var(--bar)}.meter rect.track{fill:var(--sunken)}.meter rect.full{fill:var(--bad)}
.steps{counter-reset:step;display:grid;gap:var(--s4)}.steps>.card{margin:0}
.steps>li{counter-increment:step;display:grid;gap:var(--s3);grid-template-columns:minmax(0,1fr)}
.steps>li>h2{margin:0;display:flex;align-items:center}
.steps>li>h2::before{content:counter(step);display:grid;place-items:center;flex:none;width:1.6rem;height:1.6rem;margin-right:var(--s3);
border-radius:50%;background:var(--tint);color:var(--accent);font-size:.8125rem}
.steps>.done>h2{color:var(--soft)}.steps>.done>h2::before{content:"✓";background:var(--accent);color:var(--on-accent)}
.talk{background:var(--card);border:1px solid var(--line);border-radius:.75rem;box-shadow:var(--shadow)}
.turn{padding:var(--s4);display:grid;gap:var(--s2);min-width:0;border-bottom:1px solid var(--line)}
.turn:last-child{border-bottom:0}
.turn>*{min-width:0}
.turn.user{background:color-mix(in srgb,var(--tint) 45%,var(--card))}
.turn:first-child{border-radius:.75rem .75rem 0 0}.turn:last-child{border-radius:0 0 .75rem .75rem}
.turn pre.text{max-height:26rem;overflow:auto}
.turn .facts .open{margin-left:auto}
@media (min-width:48rem){.turn{padding:var(--s4) var(--s5);grid-template-columns:7.5rem minmax(0,1fr);gap:var(--s2) var(--s4)}
.turn>:not(.by){grid-column:2}}
.turn>.by{font-weight:600}
.why{font-size:.75rem;color:var(--soft);display:flex;flex-wrap:wrap;gap:0 var(--s3)}
.why b{font-weight:inherit}.why>span+span::before{content:"·";margin-right:var(--s3)}
.chips{display:flex;flex-wrap:wrap;gap:var(--s2)}search>.chips{margin-top:var(--s3);align-items:center}search>.chips::before{content:"Saved views";color:var(--soft);font-size:.8125rem}.chips[hidden]{display:none}
.chips li{display:inline-flex;gap:.4rem;align-items:center;min-width:0;padding:.1rem .2rem .1rem .6rem;border:1px solid var(--line);
border-radius:1rem;background:var(--card);font-size:.8125rem}
.chips span{color:var(--soft)}.chips a,.chips button{display:grid;place-items:center;min-width:1.6rem;min-height:1.6rem;padding:0;border:0;
background:none;box-shadow:none;color:var(--soft);text-decoration:none;border-radius:50%}
.chips li>a:only-child,.chips li>a.view{color:var(--accent);padding:0 .3rem}
.chips a:hover,.chips button:hover{background:var(--sunken);color:var(--ink)}
.sort{display:flex;flex-wrap:wrap;gap:var(--s2);align-items:center;margin-top:var(--s3)}.sort:empty{display:none}
.sort label{margin:0;white-space:nowrap}.sort select{width:auto;max-width:100%}.sort button{white-space:nowrap}
.filters{display:flex;flex-wrap:wrap;gap:var(--s2) var(--s4);align-items:center;font-size:.8125rem}
.searchbox{display:flex;gap:var(--s2)}.searchbox button{flex:none}
.searchbox input,.searchbox button{min-height:2.75rem}.searchbox input{font-size:1rem;padding-left:.85rem}
.switch{display:flex;flex-wrap:wrap;gap:var(--s2) var(--s4);border:0;padding:0;margin:var(--s3) 0 0}
.switch legend{float:left;padding:0;margin-right:var(--s2);line-height:1.75;color:var(--soft);font-size:.8125rem}
.switch label{display:inline-flex;gap:.4rem;align-items:center;margin:0;font-weight:450;font-size:.875rem}
.search-row{display:flex;flex-wrap:wrap;gap:0 var(--s5);justify-content:space-between;align-items:center}
.pills{border:0;padding:0;margin:0;display:flex;flex-wrap:wrap;gap:var(--s2)}
.pills legend{padding:0;font-weight:550;font-size:.8125rem;margin-bottom:.3rem}
.pills label{display:inline-flex;align-items:center;gap:.45rem;margin:0;padding:.3rem .6rem;border:1px solid var(--line);
border-radius:.4375rem;font-weight:450;cursor:pointer}
.pills label:has(:checked){border-color:var(--accent);background:var(--tint);color:var(--accent);font-weight:550}
.pills label:has(:focus-visible){outline:2px solid var(--accent);outline-offset:2px}
.pills input{position:absolute;opacity:0;width:1px;min-height:0;height:1px}
#waiting{margin-top:var(--s5)}
.picks{border:0;padding:0;margin:0;list-style:none;display:grid;gap:var(--s3);min-width:0}
.picks .picks{margin:var(--s2) 0 0 var(--s5)}.picks>legend{padding:0;color:var(--soft);font-size:.8125rem}
.picks li{min-width:0}.picks label{display:flex;gap:.4rem;align-items:center;margin:0;font-weight:550}
.picks blockquote{margin:var(--s2) 0 0;padding-left:var(--s3);border-left:3px solid var(--line);color:var(--soft)}
.conditions{display:grid;gap:var(--s2)}
.conditions>div{display:grid;gap:var(--s2);grid-template-columns:minmax(0,1fr)}
@media (min-width:40rem){.conditions>div{grid-template-columns:minmax(0,2fr) minmax(0,1.3fr) minmax(0,2fr)}}
.facts-list{display:grid;gap:var(--s2)}
.facts-list div{display:grid;grid-template-columns:5.5rem minmax(0,1fr);gap:var(--s3)}
.facts-list dt{color:var(--soft)}
.version{display:grid;gap:var(--s2);padding:var(--s4) 0;border-bottom:1px solid var(--line)}
.version:last-child{border-bottom:0;padding-bottom:0}
.version>div{display:flex;flex-wrap:wrap;gap:var(--s2) var(--s4);justify-content:space-between;align-items:center}
.item{display:grid;gap:.3rem;padding:var(--s4) 0;border-bottom:1px solid var(--line)}
.item:last-child{border-bottom:0;padding-bottom:0}
.item h3 a{color:inherit;text-decoration:none}.item h3 a:hover{color:var(--accent);text-decoration:underline}
.item pre.text{max-height:16rem;overflow:auto}
@media (max-width:40rem){.item pre.text{max-height:32rem}}
.item-head{display:flex;gap:var(--s3);justify-content:space-between;align-items:baseline}
.score{display:inline-flex;gap:var(--s2);align-items:center;font-size:.8125rem;color:var(--soft);white-space:nowrap}
.score svg{width:3.5rem;height:.35rem;border-radius:.2rem;flex:none}
.score rect{fill:var(--bar)}.score rect.track{fill:var(--sunken)}
.reason{font-size:.8125rem;color:var(--accent)}
.beside h3.more{margin-top:var(--s4)}
.left-out{display:grid;gap:.15rem}
.left-out div{display:flex;justify-content:space-between;gap:var(--s3)}.left-out dd{font-weight:600}
.toc li{display:flex;justify-content:space-between;gap:var(--s3);padding:.15rem 0}
.change{display:grid;grid-template-columns:1.375rem minmax(0,1fr);gap:.1rem var(--s3);padding:.7rem 0;
border-bottom:1px solid var(--line)}
.change:first-child{padding-top:0}.change:last-child{border-bottom:0;padding-bottom:0}
.item:first-child,.version:first-child{padding-top:0}
.change .facts{min-height:1.375rem}.change .facts a{display:inline-flex;align-items:center;min-height:1.5rem}
.change .excerpt{grid-column:2;display:block;overflow:visible}
.change .excerpt a{color:inherit;text-decoration:none;display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:2;
overflow:hidden;min-height:1.5rem}
.change .excerpt a:hover{color:var(--accent);text-decoration:underline}
.change .sign{width:1.375rem;height:1.375rem;display:grid;place-items:center;border-radius:50%;background:var(--sunken);
font-weight:650;font-size:.75rem}
.change.stored .sign{background:var(--tint);color:var(--accent)}.change.deleted .sign{background:var(--bad-tint);color:var(--bad)}
.change.fresh{animation:fresh 2.4s}
@keyframes fresh{from{background:var(--tint)}}
@media (prefers-reduced-motion:reduce){.change.fresh{animation:none}}
.head .live{flex:none;margin:0}
.live{display:inline-flex;gap:var(--s2);align-items:center;font-size:.8125rem;color:var(--soft)}
.live::before{content:"";width:.5rem;height:.5rem;border-radius:50%;background:var(--edge)}
.live.on::before{background:var(--bar);box-shadow:0 0 0 3px var(--tint)}
.state::before{content:"";display:inline-block;width:.5rem;height:.5rem;border-radius:50%;background:var(--bar);margin-right:.5rem}
.state.off::before{background:var(--bad)}
.wide{width:100%}
.secret{font-size:1rem;word-break:break-all}
.ids a{display:inline-block;min-width:1.6rem;min-height:1.6rem;padding:.05rem .25rem;text-align:center}
.ids a:first-child{margin-left:-.25rem}
.links td:first-child{overflow-wrap:normal;min-width:6rem}
.gone td,.gone th{color:var(--soft)}
`

/** Styles of stored texts and their Markdown. */
export const PROSE = `
.prose{white-space:pre-line;line-height:1.65;unicode-bidi:plaintext}
.prose>*+*{margin-top:.65em}
.prose ul,.prose ol{white-space:normal;padding-left:1.4em}
.prose ul{list-style:disc}.prose ol{list-style:decimal}
.prose li{white-space:pre-line}.prose li>*+*{margin-top:.3em}.prose li+li{margin-top:.15em}
.prose li::marker{color:var(--soft)}
.prose .heading{font-weight:620}
.prose pre{white-space:pre}
.prose code{background:var(--sunken);border-radius:.25rem;padding:.1em .3em}
.prose blockquote{margin:0;padding-left:var(--s4);border-left:3px solid var(--line);color:var(--soft)}
.prose table{white-space:normal;width:auto;display:block;overflow-x:auto}
.prose th,.prose td{padding:.3rem var(--s4) .3rem 0;overflow-wrap:break-word}
.text-of{font-size:.9688rem;line-height:1.7}
.diff{padding:var(--s2) 0;font:.8125rem/1.6 var(--mono)}
.diff span{display:block;padding:0 var(--s3);white-space:pre-wrap}
.diff .add{background:var(--add)}.diff .cut{background:var(--cut)}.diff .place{color:var(--soft)}
.diff b{font-weight:inherit;border-radius:.15rem}
.diff .add b{background:var(--add-strong)}.diff .cut b{background:var(--cut-strong)}
`

/** Joins the parts into the one stylesheet. */
export const STYLE = `${BASE}${LAYOUT}${PAGES}${PROSE}${RECORDS}`
export const STYLE_AT = versioned('/assets/dashboard.css', STYLE)
