/**
 * What people say when they ask where things stand and what is to be done, in English, German, French and Spanish: they want the work
 * in flight, and what was last. Each ends where no letter of these languages follows; a question that goes on asks for something else.
 */
const END = '(?![a-zÀ-ɏ\\d])'
/** Nothing follows but a time. */
const ENDS =
  '(?:\\s+(?:now|next|today|tomorrow|first|then|again|here|jetzt|heute|gerade|hier|maintenant|ahora|hoy))*(?=\\s*(?:[?.!,…]|$))'
const saying = (said: string, end = END): RegExp => new RegExp(`(?<![a-zÀ-ɏ\\d])(?:${said})${end}`, 'i')

export const NEXT: readonly RegExp[] = [
  saying('(?:weekly|week) plan(?:ning)?(?: for (?:this |next )?week(?: \\d{1,2})?)?|plan (?:this|next) week'),
  saying("what(?:['’]s| is| are| falls)? due(?: (?:this|next) week)?", ENDS),
  saying('wochenplan(?:ung)?(?: (?:für )?(?:die )?(?:kw|woche) ?\\d{1,2})?'),
  saying('was (?:liegt|steht) (?:(?:heute|diese woche|nächste woche) )?an', ENDS),
  saying('was (?:ist|wird) (?:(?:heute|diese woche|nächste woche) )?fällig', ENDS),
  saying("plan(?:ning)? de la semaine|prochaines échéances|qu['’]est-ce qui est (?:prévu|dû)(?: cette semaine)?", ENDS),
  saying('plan(?:ificación)? (?:semanal|de la semana)'),
  saying('qué (?:vence|está pendiente|hay pendiente)(?: esta semana)?', ENDS),
  saying("what(?:['’]s| is| comes)? (?:up )?next|next (?:up|steps?|actions?|tasks?)"),
  saying(
    'what (?:should|shall|can|could|must|do|to)(?: (?:i|we|you))? (?:do|work on|tackle|start with|pick up|focus on)',
    ENDS,
  ),
  saying('(?:plan|organi[sz]e|prioriti[sz]e) (?:my|our|the|your) (?:day|morning|afternoon|week)'),
  saying('where (?:are|were|was|am|did|do) (?:we|i|you)(?: (?:at|stop|stand|leave off|end up))?', ENDS),
  saying("(?:get|bring|catch) (?:me|us) up(?: to (?:speed|date))?|up to speed|what (?:have i|did i|['’]?ve i) missed?"),
  saying('(?:daily )?stand-?up(?: (?:report|notes|meeting|update))?|status (?:update|report)|state of play'),
  saying("what(?:['’]s| is| are)?(?: (?:we|i|you))? (?:working on|open|outstanding|left to do|pending)", ENDS),
  saying('open (?:work|tasks|ends|threads)|loose ends|to-?do list|(?:my|our) tasks|on my plate'),
  saying(
    "als nächste[sn]?|nächsten? schritte?|wie geht(?:[’' ]?e?s) (?:jetzt )?weiter|was steht (?:heute |jetzt |noch )?an",
  ),
  saying('was (?:soll|sollte|muss|kann|sollen|müssen) (?:ich|wir) (?:heute |jetzt )?(?:tun|machen|angehen)', ENDS),
  saying('plane? (?:mir )?(?:meinen|den|unseren) (?:tag|morgen|nachmittag)|plane? (?:mir )?(?:meine|die|unsere) woche'),
  saying('wo (?:waren|sind|standen|stehen|war|bin|stehe) (?:wir|ich)', ENDS),
  saying('offene[nr]? (?:punkte|aufgaben|arbeiten)|stand der dinge|auf den neue?sten stand|was ist (?:noch )?offen'),
  saying('que (?:dois-je|devons-nous|faut-il) faire|quelle est la suite|prochaines? étapes?', ENDS),
  saying('planifie[rz]? (?:ma|la|notre) (?:journée|semaine)|fai(?:re|sons) le point|tâches (?:ouvertes|en cours)'),
  saying('qué (?:hago|hacemos|debo hacer|debemos hacer|sigue|toca)', ENDS),
  saying('próximos? pasos?|planifica(?:r)? (?:mi|el|nuestro) día|planifica(?:r)? (?:mi|la|nuestra) semana'),
  saying('d[oó]nde (?:estábamos|estamos|nos quedamos)|ponme al día|tareas (?:abiertas|pendientes)'),
]

/** What people say when they ask how one thing stands, or want it ended: it has begun, and nothing else is meant. */
export const OF_ONE: readonly RegExp[] = [
  saying('where (?:are|do) (?:we|i|you)(?: stand| at)? (?:with|on)|how far (?:are|is) (?:we|i|you|it) with'),
  saying('(?:status|state|progress) of|finish(?:ing)?|wrap(?:ping)? up'),
  saying(
    'wie weit (?:sind|bin) (?:wir|ich) mit|wie steht es (?:mit|um)|wo stehen wir (?:mit|bei)|stand (?:von|bei|beim)',
  ),
  saying('fertig ?(?:stellen|machen)|beenden?|où en est|(?:finir|terminer|termine[zs]?)|cómo va|terminar|acabar'),
]
