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
