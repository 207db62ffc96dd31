/** The shell around pages, and parts that many pages share. */
export const LAYOUT = `
.shell{min-height:100vh}
.side{padding:var(--s3) var(--s4);border-bottom:1px solid var(--line);background:var(--card)}
.brand{display:flex;align-items:center;gap:var(--s2);font-weight:650;font-size:1.0625rem;letter-spacing:-.01em;color:inherit;
text-decoration:none}
.side nav{margin:var(--s3) calc(var(--s2)*-1) 0}
.side nav ul{display:flex;flex-wrap:wrap;gap:.1rem}
.side nav .icon{display:none}.side nav a{padding:.3rem .5rem;min-height:2rem;font-size:.875rem}
.side nav a{display:flex;align-items:center;gap:.6rem;border-radius:.4rem;
color:var(--soft);font-weight:500;text-decoration:none}
.side nav a:hover{background:var(--sunken);color:var(--ink)}
.side nav a[aria-current]{background:var(--tint);color:var(--accent);font-weight:600}
.who{display:flex;flex-wrap:wrap;gap:var(--s2) var(--s4);align-items:center;justify-content:space-between;
font-size:.8438rem;margin-top:var(--s3)}
.who p{display:flex;flex-wrap:wrap;gap:0 var(--s2)}
main{width:100%;padding:var(--s5) var(--s4) var(--s7);max-width:72rem;margin:0 auto}
main.door{max-width:30rem;padding-top:12vh}
.door .brand{margin-bottom:var(--s6)}
@media (min-width:60rem){
.shell{display:grid;grid-template-columns:14.5rem minmax(0,1fr)}
.side{position:sticky;top:0;height:100vh;overflow-y:auto;display:flex;flex-direction:column;padding:var(--s5) var(--s4);
border-bottom:0;border-right:1px solid var(--line)}
.side .brand{padding:0 var(--s2)}
.side nav{display:flex;flex-direction:column;margin:var(--s5) 0 0;gap:var(--s4)}
.side nav ul{flex-direction:column}
.side nav .icon{display:block}.side nav a{padding:.4rem .6rem;min-height:2.25rem;font-size:inherit}
.side nav ul+ul{border-top:1px solid var(--line);padding-top:var(--s4)}
.who{margin-top:auto;padding:var(--s4) var(--s2) 0;flex-direction:column;align-items:stretch}
.who p{flex-direction:column}
main{padding:var(--s6) var(--s6) var(--s7)}
}
.head{display:flex;flex-wrap:wrap;gap:var(--s3) var(--s4);align-items:center;justify-content:space-between;margin-bottom:var(--s5)}
.head p{color:var(--soft);flex:0 0 100%;margin-top:calc(var(--s2)*-1)}
.actions{display:flex;flex-wrap:wrap;gap:var(--s2);align-items:center}
.card{background:var(--card);border:1px solid var(--line);border-radius:.75rem;padding:var(--s5) var(--s4);box-shadow:var(--shadow);
min-width:0}
.card>h2{margin-bottom:var(--s3)}
.card+.card,.stack>*+*{margin-top:var(--s4)}
@media (min-width:40rem){.card{padding:var(--s5)}}
.grid{display:grid;gap:var(--s4);grid-template-columns:minmax(0,1fr)}
.grid>.card{margin:0}
@media (min-width:44rem){.grid{grid-template-columns:repeat(2,minmax(0,1fr))}}
.columns{display:grid;gap:var(--s4)}
.columns>*{min-width:0}.columns .card{margin:0}.columns .card+.card{margin-top:var(--s4)}
@media (min-width:72rem){.columns{grid-template-columns:minmax(0,1fr) 20rem;align-items:start}}
.facts{display:flex;flex-wrap:wrap;gap:.15rem var(--s3);align-items:center;color:var(--soft);font-size:.8438rem}
.facts bdi.name,.list bdi.name{min-width:0}
.kind{display:inline-block;padding:.05rem .5rem;border:1px solid var(--line);border-radius:1rem;background:var(--sunken);color:var(--ink);
font-size:.75rem;font-weight:600;white-space:nowrap}
.kind-decision,.kind-rule,.kind-convention,.kind-guide{background:var(--tint);border-color:transparent;color:var(--accent)}
.tags{display:flex;flex-wrap:wrap;gap:var(--s1) var(--s2);font-size:.8125rem}
.tags a{color:var(--soft);text-decoration:none}.tags a::before{content:"#";opacity:.7}.tags a:hover{color:var(--accent);
text-decoration:underline}
.images{display:flex;flex-wrap:wrap;gap:var(--s2)}
.images a{display:block;border-radius:var(--round)}
.images img{display:block;width:10rem;height:7.5rem;max-width:100%;object-fit:cover;border-radius:var(--round);
border:1px solid var(--line);background:var(--sunken)}
.list>li{padding:var(--s3) 0;border-bottom:1px solid var(--line);display:grid;gap:.2rem;min-width:0}
.list>li:last-child{border-bottom:0;padding-bottom:0}.list>li:first-child{padding-top:0}
.list .title{font-weight:600}
.list .title a{color:inherit;text-decoration:none}.list .title a:hover{color:var(--accent);text-decoration:underline}
.excerpt{color:var(--soft);display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:2;overflow:hidden;unicode-bidi:plaintext}
.note{border-radius:var(--round);background:var(--tint);padding:var(--s3) var(--s4);margin-bottom:var(--s4);display:flex;flex-wrap:wrap;
gap:var(--s2) var(--s4);align-items:center;justify-content:space-between}
.note.bad{background:var(--bad-tint);color:var(--bad)}
.nothing{padding:var(--s6) var(--s4);text-align:center;color:var(--soft)}
.nothing-title{font-weight:600;color:var(--ink);margin-bottom:var(--s1)}
.pages{display:flex;align-items:center;justify-content:space-between;gap:var(--s3);margin-top:var(--s4);font-size:.8438rem}
.fields{display:grid;gap:var(--s4);grid-template-columns:repeat(auto-fit,minmax(min(13rem,100%),1fr))}
.stack-form{display:grid;gap:var(--s4)}
.scroll{overflow-x:auto}.scroll table{min-width:34rem;overflow-wrap:break-word}
.copyable{display:flex;align-items:flex-start;background:var(--sunken);border-radius:var(--round)}
.copyable pre{flex:1;min-width:0}.copyable button{flex:none;margin:.35rem .35rem .35rem 0}
.clients{display:grid;gap:0 var(--s4);grid-template-columns:repeat(auto-fill,minmax(min(13rem,100%),1fr))}
.clients>details[open]{grid-column:1/-1;margin-bottom:var(--s3)}.clients summary{font-weight:500;padding:.3rem 0}
.more{margin-top:var(--s3)}.more:not(.fields,.actions,.clients)>*+*{margin-top:var(--s3)}
.hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
`
