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
.days rect.hit{fill:transparent}.days g:hover .day{fill:var(--accent)}.days g:hover .hit{fill:var(--sunken)}
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
.why{font-size:.8125rem;color:var(--soft);display:flex;flex-wrap:wrap;gap:0 var(--s4)}
.why b{font-weight:550;color:var(--ink)}
.searchbox{display:flex;gap:var(--s2)}.searchbox button{flex:none}
.searchbox input,.searchbox button{min-height:2.75rem}.searchbox input{font-size:1rem;padding-left:.85rem}
.switch{display:flex;flex-wrap:wrap;gap:var(--s2) var(--s4);border:0;padding:0;margin:var(--s3) 0 0}
.switch legend{float:left;padding:0;margin-right:var(--s4);color:var(--soft);font-size:.8125rem}
.switch label{display:inline-flex;gap:.4rem;align-items:center;margin:0;font-weight:450;font-size:.875rem}
.pills{border:0;padding:0;margin:0;display:flex;flex-wrap:wrap;gap:var(--s2)}
.pills legend{padding:0;font-weight:550;font-size:.8125rem;margin-bottom:.3rem}
.pills label{display:inline-flex;align-items:center;gap:.45rem;margin:0;padding:.3rem .6rem;border:1px solid var(--line);
border-radius:.4375rem;font-weight:450;cursor:pointer}
.pills label:has(:checked){border-color:var(--accent);background:var(--tint);color:var(--accent);font-weight:550}
.pills label:has(:focus-visible){outline:2px solid var(--accent);outline-offset:2px}
.pills input{position:absolute;opacity:0;width:1px;min-height:0;height:1px}
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
