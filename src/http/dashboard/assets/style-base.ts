/** Colors, type, space, and the look of single elements. One accent color; everything else is ink on paper. */
export const BASE = `
:root{color-scheme:light dark;
--paper:#fbfaf8;--card:#fff;--sunken:#f4f2ee;--ink:#1d1c19;--soft:#615d56;--line:#e8e5df;--edge:#8c877e;
--accent:#0b6b5d;--on-accent:#fff;--tint:#e3f1ee;--bad:#a3261b;--bad-tint:#fbeae7;--add:#e2f3e6;--cut:#fbe8e5;
--add-strong:#b4e0bf;--cut-strong:#f5c3bc;--mark:#fbe7a1;--bar:#2f9c8a;--side:#f4f2ee;--here:#fff;
--s1:.25rem;--s2:.5rem;--s3:.75rem;--s4:1rem;--s5:1.5rem;--s6:2rem;--s7:3rem;--round:.5rem;
--shadow:0 1px 2px rgb(28 27 24/.04),0 1px 1px rgb(28 27 24/.02);
--sans:Inter,ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
--mono:ui-monospace,SFMono-Regular,"JetBrains Mono",Menlo,Consolas,"Liberation Mono",monospace}
@media (prefers-color-scheme:dark){:root{
--paper:#131210;--card:#1b1a17;--sunken:#23211e;--ink:#eeece7;--soft:#a8a399;--line:#2e2b27;--edge:#7d786e;
--accent:#63cdb7;--on-accent:#06231e;--tint:#17312c;--bad:#ff9c90;--bad-tint:#3a1d19;--add:#152d1d;--cut:#371c18;
--add-strong:#245a36;--cut-strong:#6b2c25;--mark:#5e4a0c;--bar:#46a995;--side:#0f0e0d;--here:#23211e;--shadow:none}}
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
.skip{position:absolute;left:var(--s4);top:-4rem;z-index:2;background:var(--card);padding:var(--s2) var(--s4);border-radius:var(--round)}
.skip:focus{top:var(--s4)}
label{display:block;font-weight:550;font-size:.8125rem;margin-bottom:.3rem}
input,select,textarea{width:100%;min-height:2.375rem;padding:.35rem .65rem;font:inherit;color:var(--ink);background:var(--card);
border:1px solid var(--edge);border-radius:.4375rem}
input::placeholder,textarea::placeholder{color:var(--soft);opacity:1}
input[type=checkbox],input[type=radio]{width:1.05rem;min-height:1.05rem;accent-color:var(--accent);margin:0}
input[type=file]{padding:.3rem}
input::file-selector-button{font:550 .8125rem/1.3 var(--sans);color:var(--ink);background:var(--sunken);border:0;border-radius:.3rem;
padding:.4rem .7rem;margin-right:.6rem;cursor:pointer}
textarea{resize:vertical;line-height:1.6}
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
