/** Colours, type, space, and what single elements look like. One accent colour; everything else is ink on paper. */
export const BASE = `
:root{color-scheme:light dark;
--paper:#fbfaf7;--card:#fff;--sunken:#f3f1ec;--ink:#1c1b18;--soft:#625e56;--line:#e3dfd7;--edge:#8a857b;
--accent:#0b6b5d;--on-accent:#fff;--tint:#e2f1ed;--bad:#a3261b;--bad-tint:#fbeae7;--add:#e0f2e4;--cut:#fbe6e3;--mark:#fbe7a1;
--s1:.25rem;--s2:.5rem;--s3:.75rem;--s4:1rem;--s5:1.5rem;--s6:2rem;--s7:3rem;--round:.5rem;
--shadow:0 1px 2px rgb(28 27 24/.05);
--sans:ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
--mono:ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace}
@media (prefers-color-scheme:dark){:root{
--paper:#141311;--card:#1c1b18;--sunken:#24221f;--ink:#edebe5;--soft:#a8a399;--line:#34312c;--edge:#7d786e;
--accent:#63cdb7;--on-accent:#06231e;--tint:#16312c;--bad:#ff9c90;--bad-tint:#3a1d19;--add:#16331f;--cut:#3d1f1b;--mark:#5e4a0c;
--shadow:none}}
*,*::before,*::after{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-behavior:smooth}
body{margin:0;background:var(--paper);color:var(--ink);font:400 .9375rem/1.55 var(--sans);overflow-wrap:anywhere;
font-variant-numeric:tabular-nums}
h1,h2,h3{line-height:1.25;margin:0;text-wrap:balance;letter-spacing:-.012em}
h1{font-size:1.625rem;font-weight:650}
h2{font-size:1.0625rem;font-weight:650}
h3{font-size:.9375rem;font-weight:600}
p{margin:0}
a{color:var(--accent);text-underline-offset:.18em;text-decoration-thickness:1px}
a:hover{text-decoration-thickness:2px}
a.quiet{color:inherit;text-decoration-color:var(--edge)}
ul,ol,dl{margin:0;padding:0;list-style:none}dd{margin:0}
strong{font-weight:600}
bdi.name{unicode-bidi:isolate}
.soft{color:var(--soft)}
.num{text-align:right;white-space:nowrap}
code,pre,textarea.code{font:.8438rem/1.6 var(--mono)}
pre{margin:0;padding:var(--s3) var(--s4);overflow-x:auto;background:var(--sunken);border-radius:var(--round)}
pre.text{white-space:pre-wrap;font:inherit;background:none;padding:0;border-radius:0;unicode-bidi:plaintext}
time{white-space:nowrap}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px;border-radius:.2rem}
main:focus{outline:none}
.icon,.mark{fill:none;stroke:currentColor;stroke-width:1.5;stroke-linecap:round;stroke-linejoin:round;flex:none}
.mark{color:var(--accent);stroke-width:1.75}
.skip{position:absolute;left:var(--s4);top:-4rem;z-index:2;background:var(--card);padding:var(--s2) var(--s4);border-radius:var(--round)}
.skip:focus{top:var(--s4)}
label{display:block;font-weight:600;font-size:.8438rem;margin-bottom:var(--s1)}
input,select,textarea{width:100%;min-height:2.5rem;padding:.45rem .65rem;font:inherit;color:var(--ink);background:var(--card);
border:1px solid var(--edge);border-radius:.4rem}
input[type=checkbox],input[type=radio]{width:1.1rem;min-height:1.1rem;accent-color:var(--accent)}
textarea{resize:vertical;line-height:1.55}
.hint{color:var(--soft);font-size:.8438rem;margin-top:var(--s1)}
button,.button{display:inline-flex;align-items:center;justify-content:center;gap:var(--s2);min-height:2.5rem;padding:.4rem 1rem;
font:600 .9063rem/1.3 var(--sans);color:var(--ink);background:var(--card);border:1px solid var(--edge);border-radius:.4rem;
cursor:pointer;text-decoration:none;overflow-wrap:normal}
button:hover,.button:hover{background:var(--sunken)}
button.main,.button.main{color:var(--on-accent);background:var(--accent);border-color:var(--accent)}
button.main:hover,.button.main:hover{filter:brightness(1.08)}
button.bad,.button.bad{color:var(--bad);border-color:var(--bad);background:var(--card)}
button.small,.button.small{min-height:2rem;padding:.2rem .7rem;font-size:.8125rem}
summary{cursor:pointer;font-weight:600}
table{width:100%;border-collapse:collapse}
th{font-weight:600;font-size:.8125rem;color:var(--soft);text-align:left}
th,td{padding:var(--s2) var(--s3) var(--s2) 0;vertical-align:top;border-bottom:1px solid var(--line)}
tr:last-child>td,tbody tr:last-child>th{border-bottom:0}
th:last-child,td:last-child{padding-right:0}
tbody th{color:inherit;font-size:inherit;font-weight:400}
kbd{font:600 .75rem/1 var(--mono);padding:.15rem .35rem;border:1px solid currentColor;border-radius:.25rem;opacity:.85}
mark{background:var(--mark);color:var(--ink);border-radius:.15rem;padding:0 .1em}
@media (prefers-reduced-motion:no-preference){a,button,.button{transition:background-color .12s,color .12s,filter .12s}}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
`
