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
.settings td .default{display:inline-block;margin-left:var(--s2);padding:0 .4rem;border-radius:.25rem;background:var(--sunken);font-size:.75rem}
.settings code{white-space:nowrap}
@media (max-width:40rem){.settings table,.settings tbody{display:block}.settings thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.settings tr{display:grid;grid-template-columns:minmax(0,1.3fr) minmax(0,1fr);gap:0 var(--s3);padding:.55rem 0;border-bottom:1px solid var(--line)}
.settings tr:last-child{border:0}.records.settings tr>*{border:0;padding:0}.settings tr>:nth-child(2){text-align:right}.settings tr>:nth-child(3){grid-column:1/-1;font-size:.8125rem}}
.audit td:nth-child(3){white-space:nowrap;font-weight:550}
@media (min-width:60rem){.audit .ids{white-space:nowrap}}
@media (max-width:40rem){.audit table{white-space:normal}.audit tbody tr{display:grid;grid-template-columns:minmax(0,1fr) auto;gap:.15rem var(--s3);align-items:center}
.audit tbody td[data-label]{display:block;padding:0}.audit tbody td[data-label]::before{content:none}
.audit td:nth-child(1){grid-area:1/2;color:var(--soft);font-size:.8125rem;text-align:right}.audit td:nth-child(2){grid-area:2/2;color:var(--soft);font-size:.8125rem;text-align:right}
.audit td:nth-child(3){grid-area:1/1;white-space:normal}.audit td:nth-child(4){grid-area:2/1}.audit td:nth-child(5){grid-column:1/-1;font-size:.8125rem}}
@media (max-width:40rem){.why .detail{display:none}}
.unit{display:none}@media (max-width:40rem){.unit{display:inline}}
.records tbody th a{font-weight:550;color:inherit;text-decoration:none}.records tbody th a:hover{color:var(--accent);text-decoration:underline}
.records .tick{width:2rem}.records .tick label{display:grid;place-items:center;min-width:1.75rem;min-height:1.75rem;margin:0}
.row-actions summary{display:inline-flex;align-items:center;min-height:1.75rem;font-size:.8125rem;color:var(--accent);white-space:nowrap}
.row-end>div{display:flex;flex-wrap:wrap;gap:var(--s2) var(--s4);justify-content:flex-end;align-items:center}.row-end .row-actions[open]{flex-basis:100%}.row-end .row-actions form{text-align:left}
@media (max-width:40rem){.row-end>div{justify-content:flex-start}}
.row-actions[open]{width:16rem;max-width:100%}.records tr:has(.row-actions[open])>*{vertical-align:top}
.row-actions form+form{margin-top:var(--s3);padding-top:var(--s3);border-top:1px solid var(--line)}
@media (max-width:40rem){.records .wide-only{display:none}
.records th,.records td{padding-right:var(--s3)}
.ticked,.ticked thead,.ticked tbody{display:block}.ticked tr{display:grid;grid-template-columns:2.25rem minmax(0,1fr) auto;
align-items:center;padding:.45rem 0;border-bottom:1px solid var(--line)}.ticked tbody tr:last-child{border:0}
.ticked tr>*,.ticked tbody tr:last-child>*{border:0;padding:0}.ticked tr>:nth-child(2){grid-column:2}
.ticked tr>:nth-child(3){grid-area:2/2;text-align:left;color:var(--soft);font-size:.8125rem}
.ticked tr>:last-child{grid-area:1/3}
.ticked .tick{grid-row:1/span 2;width:auto}.ticked .tick label{min-height:2.5rem}.ticked th:first-child{grid-row:1}
.stacked table{min-width:0}.stacked thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.stacked table,.stacked tbody,.stacked tr,.stacked th,.stacked td{display:block}
.stacked tr{padding:var(--s3) 0;border-bottom:1px solid var(--line)}.stacked tr:first-child{padding-top:0}.stacked tr:last-child{border:0;padding-bottom:0}
.stacked td,.stacked tbody th{border:0;padding:.1rem 0;text-align:left}
.stacked td[data-label]{display:grid;grid-template-columns:6rem minmax(0,1fr);gap:0 var(--s3)}
.stacked td[data-label]>*{grid-column:2}
.stacked td[data-label]::before{content:attr(data-label);color:var(--soft);grid-row:1/span 9}
.stacked td[data-label] br{display:none}.stacked td.num{white-space:normal}.stacked td:empty{display:none}}
.day-group:has(ol:empty){display:none}
.day-group h2{font-size:.8125rem;color:var(--soft);margin-bottom:var(--s3)}
.bar-form .field{min-width:9rem}
.records .bar-form{margin-bottom:var(--s4)}
`
