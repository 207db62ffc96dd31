import type { Kind } from '../entry/kind'
import { IN_FLIGHT } from '../entry/work'

/** Every list of words by which a pack is chosen, in English, German, French and Spanish; the numbers are in `weights.ts`. */

/** Words end where no letter of these languages follows. */
const END = '(?![a-zÀ-ɏ\\d])'
/** Nothing follows but a time. */
const ENDS =
  '(?:\\s+(?:now|next|today|tomorrow|first|then|again|here|jetzt|heute|gerade|hier|maintenant|ahora|hoy))*(?=\\s*(?:[?.!,…]|$))'
const saying = (said: string, end = END): RegExp => new RegExp(`(?<![a-zÀ-ɏ\\d])(?:${said})${end}`, 'i')

/**
 * What people say when they ask where things stand and what is to be done: they want the work in flight, and what was last. A question
 * that goes on asks for something else.
 */
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
  saying(
    'where (?:are|do|was|were|am) (?:we|i|you)(?: stand| at)? (?:with|on)|how far (?:are|is) (?:we|i|you|it) with',
  ),
  saying('(?:status|state|progress) of|finish(?:ing)?|wrap(?:ping)? up'),
  saying(
    'wie weit (?:sind|bin) (?:wir|ich) mit|wie steht es (?:mit|um)|wo stehen wir (?:mit|bei)|stand (?:von|bei|beim)',
  ),
  saying('fertig ?(?:stellen|machen)|beenden?|où en est|(?:finir|terminer|termine[zs]?)|cómo va|terminar|acabar'),
]

/** What people say when they ask for what was last: a small table, since goals are short. */
export type Period =
  | 'today'
  | 'yesterday'
  | 'this week'
  | 'last week'
  | 'past week'
  | 'this month'
  | 'last month'
  | 'whenever it was'

export interface Saying {
  readonly period: Period
  readonly said: RegExp
  /** The goal has to say this too: `hier` is yesterday in French and here in German. */
  readonly beside?: RegExp
}

const FRENCH = /(?<![a-zÀ-ɏ\d])(?:nous|on|avons|ai|j['’]ai|le|la|les|du|des|une?|où|fait|d['’]hier)(?![a-zÀ-ɏ\d])/i

/** What people say when they take up work again: it has begun, and its last sessions are wanted. */
export const RESUMES: readonly RegExp[] = [
  saying('where (?:we|i|you) (?:left off|stopped|were)|left off|where did [a-z][\\w-]{0,30} (?:stop|leave off|end up)'),
  saying('continue|resume|pick(?:ing)? up|carry on|catch (?:me )?up|(?:take|taking|took) over'),
  saying(
    "(?:in the )?middle of|(?:last|latest) thing|unfinished|hand (?:me|it|this) over|(?:what|who)(?:[’']s| is| was)? left",
  ),
  saying("back from (?:[a-z]+ ){0,3}(?:off|away|leave|holidays?|vacation)|what(?:[’']s| has| have)? changed", ENDS),
  saying('aufgehört|steh(?:en)?geblieben|stehen geblieben'),
  saying('weiter mit|weiter(?:machen|arbeiten|führen)|mach(?:e|en wir)? weiter|fortsetzen|fortführen'),
  saying("où (?:nous en|on en|j[’']en) (?:étions|était|étais|sommes|est|suis)"),
  saying('où en (?:étions-nous|sommes-nous|étais-je|est-on)'),
  saying('continue[rz]|continuons|reprend(?:re|s|ons)|reprenons|reprise|poursuivre|poursuivons'),
  saying('donde lo (?:dejamos|dejé|dejaste)|continúa|continuar|continuemos|seguir con'),
  saying('sigue con|seguimos con|retomar?|retomemos'),
]

/** The first that is said counts: who asks what is next asks for no period, and a period comes before `continue`. */
export const SAYINGS: readonly Saying[] = [
  ...NEXT.map((said): Saying => ({ period: 'whenever it was', said })),
  {
    period: 'today',
    said: /(?<![a-zÀ-ɏ\d])(?:today|this morning|tonight|heute|aujourd['’]hui|ce matin)(?![a-zÀ-ɏ\d])/i,
  },
  { period: 'today', said: /(?<![a-zÀ-ɏ\d])(?:hoy|esta mañana)(?![a-zÀ-ɏ\d])/i },
  { period: 'yesterday', said: /(?<![a-zÀ-ɏ\d])(?:yesterday|gestern|ayer)(?![a-zÀ-ɏ\d])/i },
  { period: 'yesterday', said: /(?<![a-zÀ-ɏ\d])(?:(?:d['’])?hier)(?![a-zÀ-ɏ\d])/i, beside: FRENCH },
  { period: 'last week', said: /(?<![a-zÀ-ɏ\d])(?:last week|(?:letzte|vorige)[nr]? woche)(?![a-zÀ-ɏ\d])/i },
  { period: 'last week', said: /(?<![a-zÀ-ɏ\d])(?:semaine (?:dernière|passée)|semana pasada)(?![a-zÀ-ɏ\d])/i },
  {
    period: 'this week',
    said: /(?<![a-zÀ-ɏ\d])(?:this week|diese[nr]? woche|cette semaine|esta semana)(?![a-zÀ-ɏ\d])/i,
  },
  { period: 'past week', said: /(?<![a-zÀ-ɏ\d])(?:past week|the other day|(?:last|past) few days)(?![a-zÀ-ɏ\d])/i },
  { period: 'past week', said: /(?<![a-zÀ-ɏ\d])(?:letzten tagen?|derniers jours|últimos días)(?![a-zÀ-ɏ\d])/i },
  {
    period: 'last month',
    said: /(?<![a-zÀ-ɏ\d])(?:last month|(?:letzte|vorige)[nr] monat|mois dernier)(?![a-zÀ-ɏ\d])/i,
  },
  { period: 'last month', said: /(?<![a-zÀ-ɏ\d])(?:mes pasado)(?![a-zÀ-ɏ\d])/i },
  {
    period: 'this month',
    said: /(?<![a-zÀ-ɏ\d])(?:(?:this|past) month|diese[nr] monat|ce mois-ci|este mes)(?![a-zÀ-ɏ\d])/i,
  },
  ...RESUMES.map((said): Saying => ({ period: 'whenever it was', said })),
  {
    period: 'whenever it was',
    said: /(?<![a-zÀ-ɏ\d])(?:(?:last|latest|most recent|previous) (?:session|conversation)s?)(?![a-zÀ-ɏ\d])/i,
  },
  {
    period: 'whenever it was',
    said: /(?<![a-zÀ-ɏ\d])(?:(?:last|latest|most recent|previous) (?:work|change|decision|note|time)s?)(?![a-zÀ-ɏ\d])/i,
  },
  { period: 'whenever it was', said: /(?<![a-zÀ-ɏ\d])(?:recent(?:ly)?)(?![a-zÀ-ɏ\d])/i },
  {
    period: 'whenever it was',
    said: /(?<![a-zÀ-ɏ\d])(?:letzte[nrs]? (?:sitzung|stand|änderung(?:en)?))(?![a-zÀ-ɏ\d])/i,
  },
  {
    period: 'whenever it was',
    said: /(?<![a-zÀ-ɏ\d])(?:letzte[nrs]? (?:entscheidung(?:en)?|notiz(?:en)?))(?![a-zÀ-ɏ\d])/i,
  },
  { period: 'whenever it was', said: /(?<![a-zÀ-ɏ\d])(?:neueste[nrs]?|zuletzt|kürzlich)(?![a-zÀ-ɏ\d])/i },
  {
    period: 'whenever it was',
    said: /(?<![a-zÀ-ɏ\d])(?:derni(?:er|ère)s? (?:session|travail|changement|décision|note)s?)(?![a-zÀ-ɏ\d])/i,
  },
  { period: 'whenever it was', said: /(?<![a-zÀ-ɏ\d])(?:récemment|récent(?:e|s|es)?)(?![a-zÀ-ɏ\d])/i },
  { period: 'whenever it was', said: /(?<![a-zÀ-ɏ\d])(?:últim[oa]s? (?:sesión|sesiones|trabajo))(?![a-zÀ-ɏ\d])/i },
  {
    period: 'whenever it was',
    said: /(?<![a-zÀ-ɏ\d])(?:últim[oa]s? (?:cambios?|decisión|decisiones|notas?))(?![a-zÀ-ɏ\d])/i,
  },
  { period: 'whenever it was', said: /(?<![a-zÀ-ɏ\d])(?:recientemente|recientes?)(?![a-zÀ-ɏ\d])/i },
]

/** What stands at the beginning of a request and says nothing of it. */
export const LEAD_INS: readonly RegExp[] = [
  /^(?:please|hello|hi|hey|ok(?:ay)?|so|now)(?:,|!)?\s+/i,
  /^(?:as|you are) an? [^,.:\n]{2,80}[,.:]\s+/i,
  /^(?:can|could|would|will) you(?: please)?(?: help(?: me| us)?(?: (?:to|with))?)?\s+/i,
  /^(?:help|let) (?:me|us)(?: (?:to|with))?\s+/i,
  /^(?:i|we)(?: now)?(?:['’]d| would)? (?:want|need|like|have|plan|was asked|were asked)(?: you)? to\s+/i,
  /^(?:i(?:['’]m| am)|we(?:['’]re| are)) (?:now )?(?:working on|about to|going to|trying to|asked to)\s+/i,
  /^(?:tell|show|give) (?:me|us)(?: (?:about|everything(?: relevant)?(?: (?:that )?we know)?(?: (?:about|on|for))?))?\s+/i,
  /^(?:what do (?:we|you|i) know (?:about|of)|the user (?:wants|needs|asks|asked)(?: me)? to)\s+/i,
  /^(?:my|the|this|our) (?:task|job|goal|aim) is(?: now)? to\s+/i,
  /^(?:bitte|hallo|(?:kannst|könntest) du(?: mir| uns)?(?: bitte)?(?: helfen,?)?|hilf (?:mir|uns)(?: (?:bei|dabei|mit),?)?)\s+/i,
  /^(?:ich|wir) (?:will|möchte|muss|soll|wollen|möchten|müssen|sollen)(?: jetzt)?\s+/i,
  /^(?:s['’]il (?:te|vous) plaît|(?:peux-tu|pourrais-tu|pouvez-vous|pourriez-vous)(?: m['’]aider à)?|aide(?:z)?-moi à),?\s+/i,
  /^(?:je (?:veux|voudrais|dois|vais)|nous (?:voulons|devons|allons)|j['’]ai besoin de)\s+/i,
  /^(?:por favor|(?:puedes|podrías|puede)(?: ayudarme a)?|ayúdame a|quiero|queremos|necesito|necesitamos|tengo que|debo),?\s+/i,
]

/** Words of a lead-in before a colon, beside those that stand in any goal. */
export const OF_LEAD_INS: readonly RegExp[] = [
  /(?<![a-zÀ-ɏ\d])(?:relevant|jobs?|context|goal|request|user|feature|background|memor(?:y|ies))(?![a-zÀ-ɏ\d])/gi,
  /(?<![a-zÀ-ɏ\d])(?:folgende[ns]?|bitte|hilf|hilfe|aufgabe|frage|ziel|kontext|anfrage)(?![a-zÀ-ɏ\d])/gi,
  /(?<![a-zÀ-ɏ\d])(?:besoin|aide|voici|t[âa]che|objectif|contexte|demande)(?![a-zÀ-ɏ\d])/gi,
  /(?<![a-zÀ-ɏ\d])(?:necesito|ayuda|tarea|objetivo|contexto|pregunta)(?![a-zÀ-ɏ\d])/gi,
]

/** Words of sentences that greet, thank or say how to work, beside those that stand in any goal. */
export const OF_ASIDES =
  'hey greetings dear team folks everyone morning afternoon evening hope thanks appreciate cheers regards advance sorry best ' +
  'step careful carefully thorough thoroughly concise concisely brief briefly precise exact ensure double check verify confirm ' +
  'answer reply respond response explain reasoning clarify relevant unrelated context background request user feature ' +
  'test tests testing docs documentation existing style break breaking broken practice practices instructions quality clean ' +
  'minimal lint linter commit approve approval assume assumption guess invent hallucinate skip forget remember mistake mistakes ' +
  'finish finished urgent asap hurry stop unsure stuck feedback repo repository codebase edge update updates stay ' +
  'danke vielen dank hallo guten tag gruss grusse bitte denke schritt grundlich sorgfaltig schreibe tests prufe prufen test ' +
  'aktualisiere dokumentation code antworte antwort erklare kurz knapp fasse dich nachdenken frage fragen achte beachte andere kaputt ' +
  'merci bonjour salut cordialement reflechis etape soigneusement ecris tests verifie mets jour documentation reponds reponse ' +
  'explique bref concis attention casse demande question ' +
  'gracias hola saludos piensa paso pasos cuidado cuidadosamente escribe pruebas comprueba verifica actualiza documentacion responde ' +
  'respuesta explica breve conciso asegurate rompas pregunta preguntas'

/** What a question about a time is made of; where nothing else is left, the goal asks for that time and for nothing else. */
export const ASKING: readonly RegExp[] = [
  /(?<![a-zÀ-ɏ\d])(?:good morning|hello|hey|please|guten (?:morgen|tag)|hallo|bitte)(?![a-zÀ-ɏ\d])/gi,
  /(?<![a-zÀ-ɏ\d])(?:bonjour|salut|buen(?:os)? días?|hola)(?![a-zÀ-ɏ\d])/gi,
  /(?<![a-zÀ-ɏ\d])(?:what|what's|which|where|how|did|do|done|does|have|has|had)(?![a-zÀ-ɏ\d])/gi,
  /(?<![a-zÀ-ɏ\d])(?:we|i|you|us|me|happened|happening|going on|is|was|were|new)(?![a-zÀ-ɏ\d])/gi,
  /(?<![a-zÀ-ɏ\d])(?:the|of|work|on|at|wie|wo|wer|habe|haben|hat|ich|wir|gemacht)(?![a-zÀ-ɏ\d])/gi,
  /(?<![a-zÀ-ɏ\d])(?:getan|passiert|geschehen|ist|war|waren|los|neues?|die|der)(?![a-zÀ-ɏ\d])/gi,
  /(?<![a-zÀ-ɏ\d])(?:das|von|an|am|arbeit|qu['’]|que|quoi|où|ce|qui|avons|ai|a)(?![a-zÀ-ɏ\d])/gi,
  /(?<![a-zÀ-ɏ\d])(?:est|était|étions|sommes|faits?|passé|s['’]|nous|on|je|en|de)(?![a-zÀ-ɏ\d])/gi,
  /(?<![a-zÀ-ɏ\d])(?:du|la|le|l['’]|travail|qué|dónde|cómo|hice|hicimos|hecho)(?![a-zÀ-ɏ\d])/gi,
  /(?<![a-zÀ-ɏ\d])(?:hemos|he|pasó|pasado|ha|nosotros|yo|el|lo|por|trabajo|nuevo)(?![a-zÀ-ɏ\d])/gi,
]

/** So many days, ago or until now; the number is in the group that took part. */
export const DAYS_AGO =
  /(?<![a-zÀ-ɏ\d])(?:(\d{1,3}) days? ago|vor (\d{1,3}) tage?n?|il y a (\d{1,3}) jours?|hace (\d{1,3}) días?)(?![a-zÀ-ɏ\d])/i
export const LAST_DAYS =
  /(?<![a-zÀ-ɏ\d])(?:[lp]ast (\d{1,3}) days?|letzten (\d{1,3}) tagen?|(\d{1,3}) derniers jours|últimos (\d{1,3}) días)(?![a-zÀ-ɏ\d])/i

/** What asks for work by how it stands, and the statuses that it means. */
export const BY_STATUS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/\bblocked\b|\bstuck on\b|\bwaiting (?:for|on) (?:whom|who|what|somebody|someone)\b/i, ['blocked']],
  [/\b(?:in|under|for|awaiting) review\b/i, ['review']],
  [/\b(?:in progress|in flight|ongoing|being worked on)\b|\b(?:is|are|am) [a-z]{1,20} working on\b/i, IN_FLIGHT],
]

/** Words that ask for several things, folded. */
export const ASKS = new Set(
  (
    'which what all list show welche welchen alle zeig zeige quels quelles tous toutes que cuales todos todas ' +
    'liste lista'
  ).split(' '),
)

/** Names of sorts of entries, and the kinds that they mean. */
export const SORTS: readonly (readonly [names: string, kinds: readonly Kind[]])[] = [
  ['conventions konventionen convenciones', ['convention']],
  ['rules regeln regles reglas', ['rule', 'convention']],
  ['guidelines richtlinien directives directrices', ['guide', 'convention']],
  ['ideas ideen idees', ['idea']],
  ['decisions entscheidungen decisiones', ['decision']],
  ['plans plane planes', ['plan']],
  ['gotchas pitfalls fallstricke pieges trampas', ['gotcha', 'error_pattern']],
  ['procedures runbooks ablaufe procedimientos', ['procedure']],
]

/** What says that it takes the place of what is named behind it. */
export const REPLACES =
  /(?<![\p{L}\d])(?:supersed(?:es?|ing)|replac(?:es?|ing)|ersetz(?:t|en)|remplace|sustituye|reemplaza)(?![\p{L}\d])/giu
/** Where what is replaced ends, and what replaces it or why begins. */
export const REPLACED_ENDS =
  /[.,;:!?\n]|(?<![\p{L}\d])(?:by|with|for|in|because|since|durch|mit|für|weil|par|avec|pour|por|con|para)(?![\p{L}\d])/iu

/** Words that name no subject: `Node version` and `Node 24 everywhere` are about the same. */
export const NO_SUBJECT =
  'version versions rule rules policy plan plans decision decisions guide convention new old current supported default ' +
  'final draft second third revised everywhere now'

/** A number of a clock or a list, or a single letter, stands in many texts that have nothing to do with each other. */
export const HARDLY_A_WORD = /^(?:\d{1,2}|[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])$/u
