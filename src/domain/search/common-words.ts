/**
 * Words that are frequent in English prose and in texts about software, so that they reveal little about the subject of
 * a text. The list is made by hand, because an embedder sees one text at a time and cannot count the texts with a word.
 * It includes names of programming languages, because most texts of a team are about the one or two that it uses.
 * Changing the list changes the vectors: increase the embedder's revision.
 */
const WORDS = `
  able according across actually add added adding additional after again allow allows almost along already also
  although always among another anything apply approach around ask asked available away back bad based basic become
  becomes begin being best better big bit call called calls came case cases certain change changed changes check class
  code come comes common complete consider considered contain contains course create created current currently data
  day days def describe described describes detail details determine determined develop developed did difference
  different discuss discussed discussion done due each early easily easy either else end enough especially etc even
  ever every everything example examples exist existing expect fact false far feel few file files find first five fix
  follow followed following follows form found four full function functions further gave general get gets getting give
  given gives go goes going good got great had happen happened hard having hello help helped here hi high however idea
  import important improve include included includes including information input instead involve issue item items java
  javascript keep kind knew know known large last later least leave left less let like likely line list little local
  long longer look looked looking lot low made main make makes making man many matter maybe mean means meant method
  methods might mind move must name named need needed needs never new next nice none nothing now null number numbers
  obtain obtained often ok okay old one ones onto open order other others output part particular parts people perform
  performed perhaps place please point points possible present presented presents probably problem problems process
  program programs project provide provided provides purpose put python question questions quite rather ready real
  really reason recent recently regard related report reported require required requires result results return
  returned returns right run running said same saw say says second see seem seems seen select self send sent set sets
  setting several short should show showed shown shows similar simple simply since single small so some someone
  something sometimes soon special specific specified start started still stop string study such suggest sure system
  systems take taken takes talk technique tell terms test than thank thing things think though thought three through
  thus time times today together told took toward tried true try trying turn two type types typescript under
  understand unless until upon use used useful user uses using usually value values various very via want wanted wants
  way ways week well went whether whole why without word words work worked working works write written wrong year
  years yes yesterday yet
`

export const COMMON_WORDS = WORDS.trim()
