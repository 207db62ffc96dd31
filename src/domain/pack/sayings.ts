import { NEXT } from './sayings-next'

/**
 * What people say when they ask for what was last, in English, German, French and Spanish: a small table, since goals are short.
 * Words end where no letter of these languages follows.
 */
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
  {
    period: 'whenever it was',
    said: /(?<![a-zÀ-ɏ\d])(?:where (?:we|i|you) (?:left off|stopped|were)|left off)(?![a-zÀ-ɏ\d])/i,
  },
  {
    period: 'whenever it was',
    said: /(?<![a-zÀ-ɏ\d])(?:aufgehört|steh(?:en)?geblieben|stehen geblieben)(?![a-zÀ-ɏ\d])/i,
  },
  {
    period: 'whenever it was',
    said: /(?<![a-zÀ-ɏ\d])(?:où (?:nous en|on en|j['’]en) (?:étions|était|étais|sommes|est|suis))(?![a-zÀ-ɏ\d])/i,
  },
  {
    period: 'whenever it was',
    said: /(?<![a-zÀ-ɏ\d])(?:où en (?:étions-nous|sommes-nous|étais-je|est-on))(?![a-zÀ-ɏ\d])/i,
  },
  { period: 'whenever it was', said: /(?<![a-zÀ-ɏ\d])(?:donde lo (?:dejamos|dejé|dejaste))(?![a-zÀ-ɏ\d])/i },
  {
    period: 'whenever it was',
    said: /(?<![a-zÀ-ɏ\d])(?:continue|resume|pick(?:ing)? up|carry on|catch (?:me )?up)(?![a-zÀ-ɏ\d])/i,
  },
  { period: 'whenever it was', said: /(?<![a-zÀ-ɏ\d])(?:weiter mit|weiter(?:machen|arbeiten|führen))(?![a-zÀ-ɏ\d])/i },
  {
    period: 'whenever it was',
    said: /(?<![a-zÀ-ɏ\d])(?:mach(?:e|en wir)? weiter|fortsetzen|fortführen|continue[rz])(?![a-zÀ-ɏ\d])/i,
  },
  {
    period: 'whenever it was',
    said: /(?<![a-zÀ-ɏ\d])(?:continuons|reprend(?:re|s|ons)|reprenons|reprise|poursuivre)(?![a-zÀ-ɏ\d])/i,
  },
  {
    period: 'whenever it was',
    said: /(?<![a-zÀ-ɏ\d])(?:poursuivons|continúa|continuar|continuemos|seguir con)(?![a-zÀ-ɏ\d])/i,
  },
  { period: 'whenever it was', said: /(?<![a-zÀ-ɏ\d])(?:sigue con|seguimos con|retomar?|retomemos)(?![a-zÀ-ɏ\d])/i },
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

/** What a question about a time is made of; where nothing else is left, the goal asks for that time and for nothing else. */
export const ASKING: readonly RegExp[] = [
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
