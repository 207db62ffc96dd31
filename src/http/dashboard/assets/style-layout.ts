/** The frame around pages, and parts that many pages share. */
export const LAYOUT = `
.shell{min-height:100vh}
.side{display:grid;grid-template-columns:auto minmax(0,1fr);align-items:center;gap:var(--s2) var(--s4);
padding:var(--s3) var(--s4) 0;border-bottom:1px solid var(--line);background:var(--card)}
.brand{display:flex;align-items:center;gap:var(--s2);font-weight:650;font-size:1rem;letter-spacing:-.012em;color:inherit;
text-decoration:none}
.side nav{grid-column:1/-1;display:flex;gap:var(--s1);overflow-x:auto;scrollbar-width:none;margin:0 calc(var(--s4)*-1);
padding:.2rem var(--s3) 0}
.side nav ul{display:flex;gap:.1rem}
.side nav .icon{display:none}
.side nav .waiting{position:relative;margin-left:auto;padding:0 .4rem;border-radius:1rem;
background:var(--tint);color:var(--accent);font-size:.75rem}
.side nav a{display:flex;align-items:center;gap:.6rem;padding:.3rem .55rem;min-height:2.25rem;white-space:nowrap;
color:var(--soft);font-weight:480;text-decoration:none;border-bottom:2px solid transparent}
.side nav a:hover{color:var(--ink)}
.side nav button{flex:none;align-self:center}
.side nav a[aria-current]{color:var(--accent);font-weight:600;border-color:var(--accent)}
.quick{display:none}
.who{grid-area:1/2;display:flex;gap:var(--s3);align-items:center;justify-content:flex-end;font-size:.8125rem;min-width:0}
.who p{display:flex;flex-wrap:wrap;gap:0 var(--s2);justify-content:flex-end;text-align:right;line-height:1.35}
.who button{flex:none}
main{width:100%;padding:var(--s5) var(--s4) var(--s7);max-width:74rem;margin:0 auto}
main.door{max-width:29rem;padding-top:12vh}
.door .brand{margin-bottom:var(--s5)}
@media (min-width:60rem){
.shell{display:grid;grid-template-columns:15rem minmax(0,1fr)}
.side{position:sticky;top:0;height:100vh;overflow-y:auto;display:flex;flex-direction:column;align-items:stretch;gap:0;
padding:var(--s5) var(--s3) var(--s4);border-bottom:0;border-right:1px solid var(--line);background:var(--side)}
.side .brand{padding:0 .6rem}
.quick{display:block;position:relative;margin:var(--s4) 0 0}
.quick input{background:var(--card);padding-right:2.2rem;min-height:2.125rem;font-size:.8438rem}
.quick .key{position:absolute;right:.55rem;top:.5rem;color:var(--soft)}
.side nav{flex-direction:column;margin:var(--s4) 0 0;padding:0;gap:var(--s4);overflow:visible}
.side nav ul{flex-direction:column}
.side nav .icon{display:block}
.side nav a{padding:.3rem .6rem;min-height:2rem;border:0;border-radius:.4375rem}
.side nav button{align-self:start;font-size:.8125rem;padding:.15rem .6rem}
.side nav a:hover{background:color-mix(in srgb,var(--ink) 6%,transparent)}
.side nav a[aria-current]{background:var(--here);color:var(--accent);box-shadow:var(--shadow)}
.side nav ul+ul{border-top:1px solid var(--line);padding-top:var(--s4)}
.who{margin-top:auto;padding:var(--s4) .6rem 0;flex-direction:column;align-items:stretch}
.who p{flex-direction:column;text-align:left}
.who button{align-self:start}
main{padding:var(--s6) var(--s6) var(--s7)}
}
.head{display:flex;flex-wrap:wrap;gap:var(--s3) var(--s4);align-items:center;justify-content:space-between;margin-bottom:var(--s5)}
.head h1{min-width:0;flex:1 1 16rem}
.head p{color:var(--soft);flex:0 0 100%;margin-top:calc(var(--s2)*-1)}
.actions{display:flex;flex-wrap:wrap;gap:var(--s2);align-items:center}
.bar-form{display:flex;flex-wrap:wrap;gap:var(--s2);align-items:end}
.bar-form .field{flex:1 1 11rem;max-width:20rem}
.bar-form .button,.bar-form a{align-self:end}
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
.facts strong{color:var(--ink)}
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
.stack-form{display:grid;gap:var(--s4);grid-template-columns:minmax(0,1fr)}
.stack-form>h2{margin:0}
.scroll{overflow-x:auto}.scroll table{min-width:34rem;overflow-wrap:break-word}
.scroll bdi.name{display:inline-block;max-width:min(24rem,60vw);vertical-align:top;text-decoration:inherit}
.copyable{display:flex;align-items:flex-start;background:var(--sunken);border-radius:var(--round)}
.copyable pre{flex:1;min-width:0;white-space:pre-wrap}.copyable button{flex:none;margin:.35rem .35rem .35rem 0}
.clients{display:grid;gap:0 var(--s4);grid-template-columns:repeat(auto-fill,minmax(min(13rem,100%),1fr))}
.clients>details[open]{grid-column:1/-1;margin-bottom:var(--s3)}.clients summary{font-weight:450;padding:.3rem 0}
.more{margin-top:var(--s3)}.more:not(.fields,.actions,.clients,.facts-list,.prose,.toc)>*+*{margin-top:var(--s3)}
.hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
`
