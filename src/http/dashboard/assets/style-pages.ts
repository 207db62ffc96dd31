/** What single pages need beside. */
export const PAGES = `
.tiles{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));background:var(--card);border:1px solid var(--line);
border-radius:.75rem;
box-shadow:var(--shadow);margin-bottom:var(--s4)}
.tiles>div{padding:var(--s4)}
.tiles>div:nth-child(even){border-left:1px solid var(--line)}.tiles>div:nth-child(n+3){border-top:1px solid var(--line)}
.tiles dt{color:var(--soft);font-size:.8438rem}
.tiles dd{font-size:1.625rem;font-weight:650;line-height:1.2;letter-spacing:-.02em}
.tiles dd small{display:block;font-size:.8125rem;font-weight:400;color:var(--soft);letter-spacing:0;margin-top:.15rem}
@media (min-width:48rem){.tiles{grid-template-columns:repeat(4,minmax(0,1fr))}.tiles>div+div{border-left:1px solid var(--line)}
.tiles>div:nth-child(n+3){border-top:0}.tiles>div{padding:var(--s4) var(--s5)}}
.days svg{display:block;width:100%;height:7rem;margin-top:var(--s3)}.days summary{font-weight:500;font-size:.8438rem;color:var(--soft)}
.days .track{fill:var(--sunken)}.days .day{fill:var(--accent)}
.days rect.hit{fill:transparent}.days g:hover .day{opacity:.75}
.scale{display:flex;justify-content:space-between;color:var(--soft);font-size:.75rem;margin-top:var(--s2)}
.bars td,.bars th{padding-top:.35rem;padding-bottom:.35rem;border:0}
.bars th{max-width:10rem}
.bars td.bar{width:45%;vertical-align:middle}
.bars svg{display:block;width:100%;height:.5rem;border-radius:.25rem}
.bar rect{fill:var(--accent)}.bar rect.track{fill:var(--sunken)}
.meter{display:grid;gap:.3rem}.meter+.meter{margin-top:var(--s4)}
.meter p{display:flex;justify-content:space-between;gap:var(--s3)}
.meter svg{display:block;width:100%;height:.4rem;border-radius:.2rem}
.meter rect{fill:var(--accent)}.meter rect.track{fill:var(--sunken)}.meter rect.full{fill:var(--bad)}
.steps{counter-reset:step;display:grid;gap:var(--s4)}.steps>.card{margin:0}
.steps>li{counter-increment:step;display:grid;gap:var(--s3);grid-template-columns:minmax(0,1fr)}
.steps>li>h2::before{content:counter(step);display:inline-grid;place-items:center;width:1.6rem;height:1.6rem;margin-right:var(--s3);
border-radius:50%;background:var(--tint);color:var(--accent);font-size:.8438rem}
.talk{display:grid;gap:var(--s4)}
.turn{background:var(--card);border:1px solid var(--line);border-radius:.75rem;padding:var(--s4);display:grid;gap:var(--s3);min-width:0}
.turn>*{min-width:0}
.turn.user{border-left:3px solid var(--accent)}
.turn pre.text{max-height:26rem;overflow:auto}
@media (min-width:48rem){.turn{padding:var(--s4) var(--s5)}}
.why{font-size:.8125rem;color:var(--soft);display:flex;flex-wrap:wrap;gap:0 var(--s3)}
.why b{font-weight:600;color:var(--ink)}
.searchbox{display:flex;gap:var(--s2)}.searchbox button{flex:none}.searchbox input{font-size:1.0625rem;min-height:2.9rem}
.searchbox button{min-height:2.9rem}
.switch{display:flex;flex-wrap:wrap;gap:var(--s2) var(--s4);border:0;padding:0;margin:var(--s3) 0 0}
.switch legend{float:left;padding:0;margin-right:var(--s4);color:var(--soft);font-size:.8438rem}
.switch label{display:inline-flex;gap:.4rem;align-items:center;margin:0;font-weight:500}
.conditions{display:grid;gap:var(--s2)}
.conditions>div{display:grid;gap:var(--s2);grid-template-columns:minmax(0,1fr)}
@media (min-width:40rem){.conditions>div{grid-template-columns:minmax(0,2fr) minmax(0,1.3fr) minmax(0,2fr)}}
.text-of{font-size:1rem;line-height:1.65}
.facts-list{display:grid;gap:var(--s3)}
.facts-list div{display:grid;gap:.1rem}
.facts-list dt{color:var(--soft);font-size:.8125rem}
.version{display:grid;gap:var(--s2);padding:var(--s4) 0;border-bottom:1px solid var(--line)}
.version:last-child{border-bottom:0;padding-bottom:0}
.version>div{display:flex;flex-wrap:wrap;gap:var(--s2) var(--s4);justify-content:space-between;align-items:center}
.diff{padding:var(--s2) 0;font:.8125rem/1.55 var(--mono)}
.diff span{display:block;padding:0 var(--s3);white-space:pre-wrap}
.diff .add{background:var(--add)}.diff .cut{background:var(--cut)}.diff .place{color:var(--soft)}
.item{display:grid;gap:var(--s2);padding:var(--s4) 0;border-bottom:1px solid var(--line)}
.item:last-child{border-bottom:0;padding-bottom:0}
.item h3 a{color:inherit;text-decoration:none}.item h3 a:hover{color:var(--accent);text-decoration:underline}
.item pre.text{color:var(--soft);max-height:16rem;overflow:auto}
.item-head{display:flex;gap:var(--s3);justify-content:space-between;align-items:baseline}
.score{display:inline-flex;gap:var(--s2);align-items:center;font-size:.8125rem;color:var(--soft);white-space:nowrap}
.score svg{width:3.5rem;height:.4rem;border-radius:.2rem;flex:none}
.score rect{fill:var(--accent)}.score rect.track{fill:var(--sunken)}
.reason{font-size:.8438rem;color:var(--accent)}
.left-out{display:flex;flex-wrap:wrap;gap:var(--s2) var(--s5)}
.left-out div{display:flex;gap:var(--s2)}.left-out dd{font-weight:600}
.change{display:grid;grid-template-columns:1.5rem minmax(0,1fr);gap:0 var(--s3);padding:var(--s3) 0;border-bottom:1px solid var(--line)}
.change:first-child{padding-top:0}.change:last-child{border-bottom:0}
.item:first-child,.version:first-child{padding-top:0}
.change .sign{grid-row:span 2;width:1.5rem;height:1.5rem;display:grid;place-items:center;border-radius:50%;background:var(--sunken);
font-weight:700;font-size:.8125rem}
.change.stored .sign{background:var(--tint);color:var(--accent)}.change.deleted .sign{background:var(--bad-tint);color:var(--bad)}
.change.fresh{animation:fresh 2.4s}
@keyframes fresh{from{background:var(--tint)}}
@media (prefers-reduced-motion:reduce){.change.fresh{animation:none}}
.live{display:inline-flex;gap:var(--s2);align-items:center;font-size:.8438rem;color:var(--soft)}
.live::before{content:"";width:.55rem;height:.55rem;border-radius:50%;background:var(--edge)}
.live.on::before{background:var(--accent)}
.secret{font-size:1rem;word-break:break-all}
.ids a{display:inline-block;min-width:1.6rem;min-height:1.6rem;padding:.05rem .25rem;text-align:center}
.gone td,.gone th{color:var(--soft)}
`
