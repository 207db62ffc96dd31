/** Words of other languages (`function-word-lists.ts`) that are English, or of those who write software, too: they tell of no language. */
export const ALSO_ENGLISH = new Set(
  `a ab ad ale alea all allen also alt am ami an and ani any are as at ate aura aux az bad bald ban bar bare be ben beside bile bin bio
  biz both but by ca can care case cat ci co col com come comment cos data date deg did die dies dig dim din dir do dock dog dom dont
  door dos dove e ed ego ele elem em end era et etc even every face far fare fi fii fin fine fire foil for fore fosse fur fut gab gar
  gross had ham has hast hat have he hem her here hit hoe how hun i ide if ill im in ind ins io is it jak jen jest just kim kin kit lad
  lag lang lat lav les let li lie line lo m mag man mas me med meg men mere mes met mi min mind mine mod mon more most mot mu multi my n
  nad nan nas nasa ned net nine nn no noll non nor nos not note num o of ok on one op or ota our out over own pan par pas peer per pet pic
  pod pot prim prin pro proc proto rad ram rank re s sade sale sam same sea see sen sent ser set si side sig sin sine sit size so sob solo
  son store sub sur t tag tale tam tan tar tat tau tel ten tes that the these this those tie tied til till tills tin tine to todo tom ton
  too top tot trough tun tune u uber ud under up ut v val var vars vas vase vec vi vice vid vil volt want war ware wart was we wel who why
  wie will x y ya ye yes you`.split(/\s+/),
)
/** Words of three letters that say as little as those of two, for their being names, terms and abbreviations as well. */
export const ALSO_NAMES = new Set('con das del den des det las los mit por pour som van von'.split(' '))

/** Names and sayings that English texts have whole. */
export const NAMES = new Set([
  ...['los angeles', 'los alamos', 'los gatos', 'los cabos', 'las vegas', 'la paz', 'la jolla', 'la liga', 'la land'],
  ...[
    'el paso',
    'el salvador',
    'el nino',
    'el capitan',
    'le mans',
    'le havre',
    'le monde',
    'den haag',
    'des moines',
    'del rey',
  ],
  ...['die hard', 'das boot', 'der spiegel', 'van gogh', 'van der', 'van dyke', 'van halen', 'de morgan', 'de bruijn'],
  ...['de facto', 'de jure', 'de novo', 'et al', 'per se'],
])
