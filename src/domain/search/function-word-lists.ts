import * as published from 'stopword'

/**
 * The words of a language that hold its sentences together: those of a published list, without what carries content in it (nouns,
 * numbers, days, the letters that name programming languages), and with what it lacks. Written without accents; `*` stands for any end.
 */
export interface FunctionWords {
  readonly listed: readonly string[]
  readonly without?: string
  readonly with?: string
}

/**
 * By languages of FTS_LANGUAGE, and three that queries are written in beside them. The published lists of Indonesian and Lithuanian are of
 * no use, the first for its many nouns, the second for its broken letters; Nepali, Serbian, Tamil and Yiddish have none.
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
    with: 'зачем или к которая которые который нам наш наша наши почему сколько также это',
  },
  turkish: {
    listed: published.tur,
    without: `altı altmıs bes bin doksan dokuz dort elli iki ilk iyi iyice katrilyon kırk milyar milyon on otuz sekiz seksen trilyon uc
      yedi yetmis yirmi yuz`,
  },
  romanian: {
    listed: published.ron,
    without: `azi bucur buna cinci datorita doi doilea doua frumos gratie halba ieri maine miine multumesc noroc opt patra patru patrulea
      pic prima primul rog sapte sase spate stiu suta timp treia treilea trei vreme zece zero zi zice`,
  },
  hungarian: {
    listed: published.hun,
    without: `bal bucsu cikk* eljen elmondta elso* ev evben eve evek eves evi evvel ezer ezret fel hallo harmadik* harminc harmat harom
      harom* hat hatodik* hatot hatvan het heted* hetet hetven holnap* hurra husz huszad* ketto* ket ketszer ketten keso kesobb
      keson kesz kicsit kilenc* koszono* kerem kerlek lassan lehetoseg masnap masodik masodszor nagy nagyobb nap* negy* nyolc* ot
      otodik* otot otven rendben rosszul szaz* szep* szerbusz szervusz szives* sziveskedjek tavaly tegnap* tessek tiz* urak uram
      urat ur utolso utoljara viszlat viszontlatasra`,
  },
  greek: { listed: published.ell.map((word) => word.replace(/σ$/, 'ς')), with: 'ενα ενας μια πως γιατι ποτε' },
  catalan: { listed: published.cat, without: 'mon mons' },
  basque: { listed: published.eus },
  irish: {
    listed: published.gle,
    without:
      'caoga ceathair ceathrar cead cuig* daichead deich* fiche hocht naoi naonur ocht ocht* seacht* seasca seisear triur tri triocha',
  },
  armenian: { listed: published.hye },
  hindi: { listed: published.hin, without: 'घर दो वर्ग वरग' },
  arabic: {
    listed: published.ara,
    without: `اعادة اعلنت اكد الاخيرة الاول الاولى الثاني السابق الماضي المقبل الوقت اليوم اربعة امس ايار ايام باسم برس ثلاثة زيارة سنة
      سنوات شخصا صباح صفر عام عاما عدد عشر عشرة غدا قوة لقاء للامم لوكالة مايو مساء مليار مليون نهاية واحد واضاف واضافت واكد واوضح
      يوم`,
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
    with: `apie ar arba as be bei bet bus buti buvo cia del iki ir is ja ji jie jo jos jis jus ka kad kai kaip kam kas kiek kodel kol
      kur kuri kuris man mes mus ne nei nes nuo o pagal per po prie pro si sis su ta tai taip tas ten tik to tu uz yra`,
  },
}
