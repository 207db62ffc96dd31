import * as published from 'stopword'
import { fold } from './fold'

/**
 * The function words of a language: a published list without its content words (nouns, numbers, days, letters that name
 * programming languages), plus missing words. Without accents; `*` matches any ending.
 */
export interface FunctionWords {
  readonly listed: readonly string[]
  readonly without?: string
  readonly with?: string
}

/**
 * Function words by language: those of FTS_LANGUAGE, and three more that queries use. Languages from Romanian on only have
 * their most common words, because each start of the Worker reads all published lists named here, and some contain many
 * nouns (Indonesian) or broken letters (Lithuanian). Nepali, Serbian, Tamil and Yiddish have none.
 */
export const WORDS: Readonly<Record<string, FunctionWords>> = {
  english: { listed: published.eng },
  german: {
    listed: published.deu,
    without: `heute morgen b c d e f g h j k l m n o p q r t u v w x y z ag au ei elf tel mahn acht* neun* zehn* zwanzig zwei zweit* drei
      dritt* vier* funf* sechs* sieben* zwolf eins jahr* tag tage tagen teil uhr zeit gott mann mensch* mittel ordnung sache suche
      startseite schluss weg wissen recht* richtig rund satt schlecht gross* groß* klein* gut* neue* kurz lang lange leicht leide
      lieber los hoch offen ende ernst ehrlich bekannt fruher besser* besten allein allgemeinen dank tat tritt gehen geht ging
      komm* kam nahm sah sag* gesagt gekannt vergangenen zuruck zusammen`,
    with: 'bevor damit ob obwohl sobald solange warum wofur womit woran woraus wovon wozu',
  },
  french: {
    listed: published.fra,
    with: 'ainsi alors aussi chaque combien comment donc dont encore entre leurs ni parce pourquoi puis quand quoi si',
  },
  spanish: {
    listed: published.spa,
    with: `ahi algo algun alguna algunas algunos alli ante antes aqui asi aun cada cuales cuando cuanta cuantas cuanto cuantos era eran
      es esa esas esos esta estaba estado estamos estan estar estas este esto estos estoy fue fueron ha habia han has hay he hemos
      les mis mucha muchas mucho muchos nosotros nuestra nuestras nuestro nuestros os otra otras otros pero pues quienes sea ser
      sera si sido sois somos son soy tambien tan tanto tiene tienen todo todos tus unas unos vosotros yo`,
  },
  italian: { listed: published.ita, with: 'chi cosi dunque ogni oppure poi quando se sia' },
  portuguese: {
    listed: published.por,
    with: `ali aqui assim cada da estamos estao estava estou foi foram era eram ha la onde pois porque quanta quantas quanto quantos sao
      ser sera sobre sob somos sou tem tendo ter tinha todo todos`,
  },
  dutch: {
    listed: published.nld,
    with: 'hadden jouw jullie onder onze terwijl waar waarom waarvoor welk welke wanneer wordt',
  },
  swedish: {
    listed: published.swe,
    without: `e aderton* artonn attio* atton* beslut* dag dagar dagarna dagen del delen elfte elva enkel* ettusen fem femte femti* femton*
      fjorton* fjarde fyra fyrti* god goda godare godast gott hoger hogre hogst hog hundra* idag igar imorgon kr lilla lite liten
      litet langsam* latt* langre langst langt nio nionde nitti* nitton* noll nr nummer nodvandig* overmorgon ratt sex sexti*
      sexton* sju sjunde sjutti* sjutton* sjatte sma smatt snart stor stora stort storre storst tack tidig* tio tionde tjugo*
      tjungo tolfte tolv tre tredje tretti* tretton* tva tvahundra ursakt vanster vanstra viktig* atta attionde attonde adjo forlat
      varsagod`,
  },
  danish: {
    listed: published.dan,
    without:
      'ene eneste far fem fire god godt hej lav lille mand ny nyt okay otte seks stor store syv tag tage ti to tre',
  },
  norwegian: { listed: published.nob },
  finnish: {
    listed: published.fin,
    without:
      'a n s mm 9 the of de vuonna vuoden vuosina vuodesta vuotta luvun luvulla kauden kaudella osa kaksi kolme yksi ensimmai* teki',
    with: `emme en et ette eivat han he ilman jos koska kuinka kuka me mihin mika miksi milloin mina missa mista mita miten mitka myos
      ne niin nama olemme olen olet olette olisi sina tama te vaan vaikka`,
  },
  polish: {
    listed: published.pol,
    without: 'duzo mało dobrze dwa dwaj dwie dwoje jedna jedno lat pan pana pani roku dzis dzisiaj',
  },
  czech: {
    listed: published.ces,
    without: `ahoj blizko clanku clanky cau cz ctrnact ctyri dek* den deset devatenact devet dobry dvacet dvanact dva dve jedenact chut*
      napiste neg novy nove nula osm osmnact patnact pet prosim prvni re sedm sedmnact sest sestnact sta sto strana tema tipy
      tisic* tri trinact vecer zpravy`,
  },
  croatian: { listed: published.hrv, with: 'gdje kad zasto' },
  russian: {
    listed: published.rus,
    without: 'сказал сегодня',
    with: `зачем или к которая которые который нам наш наша наши почему
      сколько также это`,
  },
  turkish: {
    listed: published.tur,
    without: `altı altmıs bes bin doksan dokuz dort elli iki ilk iyi iyice katrilyon kırk milyar milyon on otuz sekiz seksen trilyon uc
      yedi yetmis yirmi yuz`,
  },
  romanian: {
    listed: [],
    with: `a acea aceasta aceea acel acele acest acesta aceste acestea acestui ai al ale am ar are asupra au avea avem ca care ce cel
      cele ceva chiar cine cu cui cum cand cat cate catre da daca dar de deci deja despre din dintre doar dupa ea ei el ele era eram
      este eu fara fi fie fiecare fost iar ii il in intre la le li lor lui mai ma mea mei meu mi mult ne ni nici nimic noastra
      nostru nou noi nu o or ori pana pe pentru peste prin sa sale sau se si sub sunt spre tot toate toti tu ta tau te un una unde
      unei unele unor unui va voi vom`,
  },
  hungarian: {
    listed: [],
    with: `a abban ahhoz ahogy aki akik akkor ami amely amelyek amelyet amelyik amikor amit annak arra attol az azert aztan azok azokat
      azon azonban azt azzal be belul benne csak de e ebben eddig egy egyes egyik egyre el ellen elo elott ennek erre es ez ezek
      ezen ezert ezt ezzel fel ha hanem hiszen hogy hogyan hol igen illetve ilyen is itt jobban kell kellett ki kik kit kivul kozott
      kozul le legyen lehet lenne lesz lett ma mar maga meg mely melyik mert mi mia miatt miert mig mikor milyen mind minden mindig
      mint mit mivel most nagyon ne neki nekem nekunk nelkul nem nincs o ok oket olyan ott pedig rajta ra se sem semmi sok szamara
      szerint szinte talan tehat te ti tobb tovabb tul ugy ugyanis ugyan utan vagy vagyok vagyunk valaki valami van vannak vele
      velunk vissza viszont volna volt voltak`,
  },
  greek: {
    listed: [],
    with: `αλλα αν αντι απο αυτα αυτες αυτη αυτο αυτοι αυτος αυτους αυτων
      για γιατι δε δεν εαν ειμαι ειμαστε ειναι εκεινη εκεινο εκεινος ενα
      ενας ενω επι η ηταν θα και κατα κι μα μας με μετα μεχρι μη μην μια μου
      να ο οι ομως οπως οταν οτι ουτε παρα ποια ποιες ποιο ποιοι ποιος που
      ποτε προς πως σας σε στη στην στις στο στον στους στα τα τη την της τι
      τις το τον του τους των ως`,
  },
  catalan: {
    listed: [],
    with: `a aixi aixo al als amb aquell aquella aquells aquest aquesta aquestes aquests cada com d de del dels des doncs el ella ells
      els em en encara ens entre era eren es esta et ha han hem hi ho i ja l la les li me mes mentre meu molt molta n ni no
      nosaltres nostra nostre o on pel pels per pero perque que qual quals quan qui quin quina quins s se sense ser seu seva si
      sobre son t tambe te tot tota tots un una unes uns us va van vosaltres`,
  },
  basque: {
    listed: [],
    with: `al ala arabera baina bat batean batek bati batzuk bera bere beste bezala da dago dira ditu du dute edo egin ere eta ez gara gu
      hain hala hara hau hauek haren hemen hori horiek hor horrek hura izan nahiz ni nik noiz nola non nor nora zein zer zergatik zu
      zuek`,
  },
  irish: {
    listed: [],
    with: `a ach ag agus an ann ar as ba cad cen conas b bhi bhfuil chuig cuir d de do don faoi fuil gach gan go gur i iad idir in is le
      leis m ma mar me mo na nach ni no o os roimh sa se si sibh sinn sna so sin ta tu um`,
  },
  armenian: {
    listed: [],
    with: `այդ այլ այն այս բայց դա դու դուք եթե եմ են ենք ես եք է էի էին էինք
      էիր էիք էր ըստ թե ի ին ինչ ինչպես ինչու իսկ իր կամ համար հետ հետո մենք
      մեջ մի նա նաև նրա նրանք որ որը որոնք որպես ու ում վրա տակ և`,
  },
  hindi: {
    listed: [],
    with: `अपना अपनी अपने अब अभी आप इन इस इसका इसकी इसके
      इसे इसलिए उन उनका उनकी उनके उस उसका उसकी उसके
      उसे एक ऐसा ऐसे और कब कर करके का कि किया किस की कुछ
      के को कोई कौन क्या क्यों कैसे कहाँ जब जहाँ जिस
      जो तक तब तो था थी थे द्वारा न नहीं ने पर फिर भी
      मगर मुझे में मैं यदि यह यहाँ या ये लिए लेकिन वह
      वहाँ वाले वे सब से सभी साथ हम हमारे ही हुआ हुई
      हुए हूँ है हैं हो होता होती होते`,
  },
  arabic: {
    listed: [],
    with: `أن أنا أنت أو أي أين إذا إلى إن ا اذا الا التي الذي الذين الى ان انه
      او اي ب بعد بعض بل بين تلك ثم حتى حيث خلال ذلك سوف عند عندما عن على
      عليه عليها غير ف فقط في فيه فيها قبل قد كان كانت كل كم كما كيف ل لا لدى
      لكن لكي لم لماذا لن له لها لهم لو ليس ما ماذا متى مثل مع من منذ منه
      منها نحن هذا هذه هل هم هنا هناك هو هي و ولا وقد وهو وهي يكون`,
  },
  indonesian: {
    listed: [],
    with: `ada adalah agar akan anda antara apa apakah atas atau bagaimana bagi bahwa beberapa belum bisa bukan dalam dan dapat dari
      daripada dengan di dia ini itu jika juga kami kapan karena ke kepada ketika kita lagi lebih maka masih mereka namun oleh pada
      para pernah saja sampai sangat saya sebagai sebuah sedang sehingga sejak sekarang semua seperti serta siapa sudah supaya tapi
      telah tentang tetapi tidak untuk yaitu yang`,
  },
  lithuanian: {
    listed: [],
    with: `apie ar arba as be bei bet bus buti buvo cia del iki ir is ja ji jie jo jos jis jus ka kad kai kaip kam kas kiek kodel kol kur
      kuri kuris man mes mus ne nei nes nuo o pagal per po prie pro si sis su ta tai taip tas ten tik to tu uz yra`,
  },
}

const inWords = (text: string | undefined): readonly string[] => text?.trim().split(/\s+/) ?? []

const folded = new Map<string, ReadonlySet<string>>()

function read({ listed, without, with: more }: FunctionWords): ReadonlySet<string> {
  const words = new Set(listed.map(fold))
  const content = inWords(without)
  for (const word of content) words.delete(word)
  const beginnings = content.filter((word) => word.endsWith('*')).map((word) => word.slice(0, -1))
  if (beginnings.length > 0)
    for (const word of words) if (beginnings.some((beginning) => word.startsWith(beginning))) words.delete(word)
  for (const word of inWords(more)) words.add(fold(word))
  return words
}

/** Folded, as texts are; null for a language without a list. Read when they are first asked for. */
export function functionWords(language: string): ReadonlySet<string> | null {
  const words = WORDS[language]
  if (words === undefined) return null
  const made = folded.get(language) ?? read(words)
  folded.set(language, made)
  return made
}

/** Languages that a text may be guessed to be written in. Basque, Catalan and Irish have too many words of others. */
const GUESSED = Object.keys(WORDS).filter((language) => !['english', 'basque', 'catalan', 'irish'].includes(language))

/** Words whose languages are remembered. Bounded, because an isolate lives long and queries are other people's. */
const REMEMBERED = 5_000
const remembered = new Map<string, readonly string[]>()
let lacking: ReadonlyMap<string, readonly string[]> | null = null

/**
 * Languages other than English whose list has a word as it is spelled there, in the order in which they are guessed. Asked of the words of
 * every query, so that the lists are gone through as they are: to fold them takes longer than all else that a first query needs.
 */
export function languagesOf(word: string): readonly string[] {
  const known = remembered.get(word)
  if (known !== undefined) return known
  lacking ??= new Map(GUESSED.map((language) => [language, inWords(WORDS[language]?.with)]))
  const languages = GUESSED.filter(
    (language) => WORDS[language]?.listed.includes(word) || lacking?.get(language)?.includes(word),
  )
  if (remembered.size >= REMEMBERED) remembered.clear()
  remembered.set(word, languages)
  return languages
}
