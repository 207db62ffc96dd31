/** Styles of the pages of memories, activity, packs and administration. */
export const RECORDS = `
.error{color:var(--bad);font-size:.8125rem;margin-top:var(--s1);font-weight:550}
[aria-invalid=true]{border-color:var(--bad);outline:1px solid var(--bad)}
.inline>summary{display:inline-flex;align-items:center;min-height:1.75rem;color:var(--accent);font-size:.8125rem}
.inline[open]>summary{margin-bottom:var(--s2)}
.beside .inline{margin-bottom:var(--s3);padding-bottom:var(--s3);border-bottom:1px solid var(--line)}
.beside .inline .fields{grid-template-columns:minmax(0,1fr)}
.group{border:0;padding:0;margin:0;min-width:0}.group legend{padding:0;font-weight:550;font-size:.8125rem}
.group .hint{margin:0 0 var(--s2)}
.views{display:inline-flex;gap:var(--s1);padding:.2rem;border-radius:.5rem;background:var(--sunken)}
.views a{padding:.25rem .8rem;min-height:1.75rem;border-radius:.375rem;color:var(--soft);text-decoration:none;font-size:.8125rem;font-weight:550}
.views a[aria-current]{background:var(--card);color:var(--ink);box-shadow:var(--shadow)}
.graph{overflow-x:auto;margin-bottom:var(--s4);padding:var(--s2);border-radius:var(--round);background:var(--sunken)}
.graph svg{display:block;margin:0 auto;max-width:100%;height:auto}
@media (max-width:40rem){.graph{display:none}}
.changed{display:grid;gap:var(--s1);margin-top:var(--s2);font-size:.8125rem}
.changed div{display:grid;grid-template-columns:7rem minmax(0,1fr);gap:var(--s3)}
.changed dt{color:var(--soft)}.changed del,.changed ins{text-decoration:none;border-radius:.15rem;padding:0 .2em}
.changed del{background:var(--cut)}.changed ins{background:var(--add)}
.graph text{fill:var(--ink);font:500 12.5px var(--sans)}
.graph .node rect{fill:var(--card);stroke:var(--line)}.graph .node:hover rect,.graph .node:focus-visible rect{stroke:var(--accent);stroke-width:2}
.graph .node:focus-visible{outline:0}
.graph .here rect{fill:var(--tint);stroke:var(--accent)}.graph .here text{font-weight:650}
.graph .line{fill:none;stroke:var(--edge);stroke-width:1.5}.graph .head{fill:var(--edge)}
.graph .line-supersedes{stroke-dasharray:5 4}.graph .line-contradicts{stroke:var(--bad)}
.legend{display:flex;flex-wrap:wrap;gap:var(--s1) var(--s4);justify-content:center;margin-top:var(--s2);color:var(--soft);font-size:.8125rem}
.legend li{display:flex;align-items:center;gap:var(--s2)}
.legend li::before{content:"";width:1.5rem;border-top:2px solid var(--edge)}
.legend .line-supersedes::before{border-top-style:dashed}.legend .line-contradicts::before{border-color:var(--bad)}
.sources li{display:flex;flex-wrap:wrap;gap:0 var(--s4);justify-content:space-between;padding:var(--s1) 0;font-size:.8125rem}
.warn{color:var(--bad);font-weight:550}
.bullets{list-style:disc;padding-left:1.2em;display:grid;gap:var(--s1)}
.found{display:grid;justify-items:start}.found button{justify-content:start;text-align:left;color:var(--accent)}
.check{display:flex;gap:var(--s2);align-items:center;margin:0;min-height:1.75rem}
.picklist>.pick{display:grid;grid-template-columns:auto minmax(0,1fr) auto;gap:var(--s2) var(--s4);align-items:center;padding:var(--s3) 0}
.pick label{display:grid;place-items:center;min-width:1.75rem;min-height:1.75rem;margin:0}
.records th a.sort{margin:0;color:inherit;text-decoration:none;white-space:nowrap;display:inline-flex;gap:.2rem;min-height:1.5rem;align-items:center}
.records th a.sort:hover{color:var(--accent);text-decoration:underline}
.records tbody tr:hover>*{background:color-mix(in srgb,var(--sunken) 60%,transparent)}
.records td,.records th{vertical-align:middle}
.records tbody th a{font-weight:550;color:inherit;text-decoration:none}.records tbody th a:hover{color:var(--accent);text-decoration:underline}
.records .tick{width:2rem}.records .tick label{display:grid;place-items:center;min-width:1.75rem;min-height:1.75rem;margin:0}
.row-actions summary{display:inline-flex;align-items:center;min-height:1.75rem;font-size:.8125rem;color:var(--accent);white-space:nowrap}
.row-actions[open]{width:16rem}.records tr:has(.row-actions[open])>*{vertical-align:top}
.row-actions form+form{margin-top:var(--s3);padding-top:var(--s3);border-top:1px solid var(--line)}
@media (max-width:40rem){.records .wide-only{display:none}
.records th,.records td{padding-right:var(--s3)}
.records .ticked{table-layout:fixed}.records .ticked .num{width:5.75rem}.records .ticked th:first-child{width:2.25rem}
.stacked table{min-width:0}.stacked thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.stacked table,.stacked tbody,.stacked tr,.stacked th,.stacked td{display:block}
.stacked tr{padding:var(--s3) 0;border-bottom:1px solid var(--line)}.stacked tr:first-child{padding-top:0}.stacked tr:last-child{border:0;padding-bottom:0}
.stacked td,.stacked tbody th{border:0;padding:.1rem 0;text-align:left}
.stacked td[data-label]{display:grid;grid-template-columns:6rem minmax(0,1fr);gap:0 var(--s3)}
.stacked td[data-label]>*{grid-column:2}
.stacked td[data-label]::before{content:attr(data-label);color:var(--soft);grid-row:1/span 9}
.stacked td[data-label] br{display:none}.stacked td:empty{display:none}}
.day-group:has(ol:empty){display:none}
.day-group h2{font-size:.8125rem;color:var(--soft);margin-bottom:var(--s3)}
.bar-form .field{min-width:9rem}
.records .bar-form{margin-bottom:var(--s4)}
`
