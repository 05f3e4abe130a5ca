"""English."""

from webapp.domain.follow_ups.lexicon import Lexicon
from webapp.domain.follow_ups.word_list import WordList, WordParts

_KIN = (
    "husband/wife/mother/mum/mom/mama/mommy/mummy/father/dad/daddy/papa/parents/son/daughter/baby"
    "/child/kid/boy/girl/twin/twins/brother/sister/nan/nana/gran/granny/grandma/grandmother/grandpa"
    "/grandad/granddad/grandfather/aunt/auntie/uncle/cousin/nephew/niece/friend/partner/boyfriend"
    "/girlfriend/fiance/fiancee/stepdad/stepmum/stepmom/stepfather/stepmother/friends/children/sons"
    "/daughters/brothers/sisters/dog/cat"
)
_THING = (
    "printer/car/van/phone/phones/battery/laptop/computer/pc/tablet/server/router/app/site/website"
    "/wifi/signal/network/bar/button/batteries/charger/remote/connection/internet"
    "/session/screen/mic/camera/keyboard/link/links/feature/product/machine"
)
_ASKED = "$/this/that/it/these/any/anything/anymore/more/about/here/question/questions/please"

LEXICON = Lexicon(
    non_answers=WordList("""
        no/nope/nothing/none/nah all good/fine/great/well
        no/nope/nothing it's/its fine/good/great/perfect
        no/nothing it is fine/good/great/perfect, no/nothing everything is/was fine/good/great
        na/none/nothing/no/nope/nil/nah/idk/dunno/pass/skip/unsure/nobody/never/whatever/forgot
        n a, i/we dunno, no comment/idea/clue/thanks/opinion/answer, not sure/really/much/applicable
        don't/dont know/remember/recall, i/we don't know/remember/recall, i/we do not know/remember
        i'm/im/am not sure, i am not sure, i have no idea/clue/opinion, i've no idea/clue, i forgot
        nothing really/much/special/particular/specific, nothing in particular/special/specific
        nothing comes to mind, nothing i can think of, not that i can think of, i have nothing
        can't/cannot say/remember/recall/think, i can't/cannot say/remember/recall
        couldn't/can't tell/say you, couldn't say, i couldn't/can't tell you
        haven't/never thought about it/that, i haven't/never thought about it/that
        no thoughts/preference, not that i know/i'm, not that i know of, not that i'm aware of
        don't have an/any answer, i don't have an/any answer, no answer
        don't really know, i don't really know, don't have one/any/anything
        i don't have one/any/anything
        never really thought about it/that, can't think of anything/any/one
        i can't/cannot think of anything/any/one, beats me
        i never had one/any, never had one/any, never happened, thanks/cheers, thank you
        no particular reason, no reason, who knows, nothing at all, none of them/those/these
    """),
    flat=WordList("""
        no/nope/nothing/none/nah all good/fine/great/well
        no/nope/nothing it's/its fine/good/great/perfect
        no/nothing it is fine/good/great/perfect, no/nothing everything is/was fine/good/great
        na/none/nothing/no/nope/nil/nah/nobody/never, n a, nothing really/much/at, nothing at all
        no thanks, not really/much/applicable, none of them/those/these, nothing special
        i never had one/any, never had one/any, never happened, thanks/cheers, thank you
    """),
    fillers=WordList("""
        sorry/really/honestly/um/uh/er/erm/hmm/hm/well/so/just/please/pls/lol/thanks/yet/actually
        ok/okay/oh/but/and/right/now/tbh/haha/here/at/moment/the/thank/you
    """),
    yes=WordList("""
        yes/yeah/yep/yup/yea/y/sure/definitely/absolutely/certainly, of course, yes of course
        yes i/we do/am/are/have/did/was/were/can/would, yes it is/does/did/was, i/we do/did/have
        yes i/we/it/they …, yes every day
        yes definitely/absolutely/sure/mostly/always/usually/mainly/partly
    """),
    no=WordList("""
        no/nope/nah/n/never/not, not at all, no not really/yet, not yet/really, kind/sort of no/not
        no i/we don't/didn't/haven't/can't/wouldn't/am, no i'm/im not, no i am not
        i/we don't/didn't, no unfortunately/thanks, unfortunately/sadly not/no
        no it isn't/doesn't/didn't/wasn't, no/nope never, of course not, definitely/certainly not
    """),
    stops=WordList(f"""
        no more $, no more questions/please, stop asking, ^ stop $, stop it $
        please stop $, ^ please stop $/asking/this/it
        that's/thats it/all/everything $, that is it/all/everything $, that's/thats all i know/have
        that's/thats all i can say/think, that is all i know/have/can
        ^ that's/thats it/all for/from/folks/i/i've/really/thank, ^ that is it/all for/from/i
        i'm/im/am done $, ^ i'm/im done here/answering/talking/now
        nothing else/more to add/say/report
        nothing else/more $, nothing to add/say $, ^ nothing to add, no/any further/more comments $
        already answered/said/told $/you/that/this/it/above/before/everything, asked and answered
        don't want/wish to answer/say/continue/talk/discuss/share {_ASKED}
        do not want/wish to answer/say/continue/talk/discuss/share {_ASKED}
        don't/dont feel like answering/sharing/talking
        don't/dont feel comfortable answering/sharing/talking/discussing
        not comfortable answering/sharing/talking/discussing, like to skip this/that/it $, ^ next $
        skip this/that one/question, ^ skip this/that/it $
        rather not, prefer not to, prefer not $, none of your business, not your business
        leave me alone, leave it there, move on $, ^ move on, let's/lets move on, ^ next question
        to the next question, next question please, this/it is private/personal $
        leave it at that, ^ i'll/i pass on, i'll pass $
        stop with the/your/these questions, wouldn't/won't want to say, you don't need/have to know
        keep that/it/this to myself, said/say enough $, no more of this/that
        shouldn't answer/say, don't think i should answer/say/share
        don't wanna answer/say/talk/share/discuss {_ASKED}, my business $, can i skip
        not going to answer/say, not gonna answer/say, enough already/now $
        can we stop/move/skip, no further comment/comments, enough questions, ^ enough $
        won't/wont answer, will not answer, refuse to answer, mind your own business, end the survey
        too personal, that's/thats private, that is private, private matter $, no thank you
        ^ no thanks
    """),
    invitations=WordList("""
        anything/something else, any other/more/further, to add/share, add anything, what else
        do/did you have any, are/is/were there any/anything, have you any
    """),
    tender=WordList(f"""
        died/dying/drowned/drowning/burial/death/deaths/deceased/funeral/funerals/killed/murder
        murdered/murderer
        passed/pass/passing away, passed on $, his/her passing, passing of my/his/her/our/a
        cemetery/morgue/coffin/ashes, is/was/were/are/be/been/found dead, want/wanted to die
        wish i/he/she was dead, rest in peace, no longer with us, not with us anymore, in a coma
        my/our/his/her late {_KIN}, lost {_KIN}, lost … {_KIN}
        lost … … {_KIN}, lost … of my closest/best/dear {_KIN}, lost … of my {_KIN}
        losing … {_KIN}, loss of … {_KIN}, loved one/ones
        fatal accident/crash
        he/she passed $/in/last/when/on/at/from/suddenly/peacefully/two/three
        lost him/her to/in/last/this/when/at/during, lost both/him/her $, lost pregnancy
        lost my/our/his/her/the pregnancy, bury/burying/buried him/her
        bury/burying/buried … {_KIN}
        {_KIN} is/was gone, no heartbeat, survive without him/her
        {_KIN} dies, he/she/who/someone/everybody/everyone dies, {_KIN} passed
        {_KIN} has/had/just/recently passed, born sleeping
        {_KIN} didn't make it, he/she/they/and/sadly didn't make it, {_KIN} od'd
        goodbye to {_KIN}/him/her, goodbye to … {_KIN}, goodbye to … … {_KIN}
        take/taking/took/end/ending/ended my/his/her/their life, long illness
        take/taking/took/end/ending/ended my/his/her/their own life
        kill/killing/killed/hang/cut/cutting/hurt/hurting/harm/harming/burn/starve/starving myself
        kill/killing/killed/hang/cut/cutting/hurt/hurting/harm/harming himself/herself/themselves
        cut/slit my/his/her wrists, end/ending/ended it all, want it all to end/stop
        pain to end/stop
        hanged/hung/shot/drowned/poisoned himself/herself/themselves
        thoughts of/about ending/dying, thinking of/about dying, wanna/gonna die, better off dead
        better off without me, reason to live, nothing to live for, worth living, point in living
        no longer want to live/be, point in/of anything, please kill me
        tired of living/life/being alive, i can't go on $, can't do this anymore $, lost the will
        don't want to live/exist/die/wake, don't wanna live/exist/be, don't want to be alive
        don't want to be here $, don't want to be here anymore/any, not want to live/exist
        want/wanted to disappear, disappear forever, never been born, never wake up
        wish/wished i wasn't/weren't/was here/alive, wish/wished i didn't exist
        if i … didn't/weren't/wasn't exist/here/around
        happier/better if i was/were/wasn't/weren't/died, if i was/were gone/dead
        if i didn't/weren't/wasn't exist/here/around, just didn't exist, reason to get up
        jumped/jump off/from a/the bridge/roof/building/balcony, front of a train
        swallowed/took … pills, too many pills, took all my/the pills
        self harm/harming/harmed/injury
        chemo/hospice/sepsis
        hiv/ptsd/icu, multiple sclerosis, have/has/had/with/got als, als $, motor neurone/neuron
        mnd
        cystic fibrosis, heart/kidney/liver/organ/lung failure/transplant, bone marrow
        on dialysis, brain injury/damage/bleed/tumor/tumour/haemorrhage/hemorrhage
        stage three/four/3/4, months/weeks/days to live
        {_KIN} has … weeks/months, been/was/were given … weeks/months, point of/in living
        weeks/months left to live
        doctor/doctors/they gave him/her/me/us/them … month/months/weeks/years/year
        diagnosed/diagnosis with, was/been/got/were/just diagnosed, my/his/her/our diagnosis
        found a lump/mass/tumor/tumour/shadow, a lump in, ectopic/abortion
        won't/isn't going to make it/see christmas, won't live to/another
        terminal/terminally ill/illness, he/she/it/is/he's/she's/it's terminal
        seriously/gravely/critically/severely/really ill/injured, incurable, in remission
        palliative care
        paralysed/paralyzed from/after/since, car accident/crash
        heart attack, a stroke, had/another stroke, intensive care, life support
        depression/depressed, eating disorder
        nervous/mental breakdown, widow/widowed/widower/orphan/orphaned
        raped/rape/rapist/molested/assaulted/abused/abusive/tortured/stabbed
        shooting, sexual/physical/domestic/child/emotional/verbal assault/abuse/violence/harassment
        sexually/groped, harassed/harassing/harasses me, was/were/been harassed
        beat/beats/beating/beaten/hit/hits/hitting/punched/punches/slapped/slaps me/her/him
        choked/chokes/choking/kicks/shoves me/her/him, hit/hits/beat/beats my/our {_KIN}
        beaten up/by
        he/she/ex/who hurt/hurts me/her
        broke/breaks/broken my/her nose/arm/ribs/rib/jaw/wrist/leg, black eye
        beat/beats … … out of me/us/her
        hand/hands/fingers up/under/down my/her, hand/hands on my/her leg/thigh/knee/bum/ass/breast
        pushed/pinned/held/threw/dragged me down/against
        he/partner/boyfriend/husband locks/locked me, since/during/fled/from the war
        the war in
        beat/beats me up, around my/her neck/throat, hand/hands on me/her, forced himself
        is/was/gets/got/became/being/turned/turns violent, violent partner/husband/father/man/men/ex
        touched me when/there, he touched/touches me, tried to kiss me
        grabbed/touched/groped my breast/breasts/bum/ass/butt
        never woke up, forced me to have/touch, without my consent
        i was/got attacked/mugged/robbed/shot/stalked, stalks/stalking/stalked me/her, my stalker
        {_KIN} was shot, was bombed, bombing/bombings/airstrike/massacre/genocide
        knife/gun/blade to/at/on my/me/his/her, pulled a knife/gun, at gunpoint/knifepoint
        restraining order
        afraid/scared/terrified/frightened of him
        afraid/scared/terrified/frightened of my ex/{_KIN}
        fear/feared/fearing for my life, afraid/scared for my life, not safe at home
        threatened/threatens/threatening to kill/hurt/burn, threatened/threatens me
        death threat/threats, my/an/the/his/her abuser, grieving/grief/mourning
    """),
    tender_parts=WordParts("""
        suicid- strangl- kidnap- abduct- miscarr- stillb- bereav- overdos- cancer- tumor- tumour-
        metasta- lymphom- melanom- glioblastom- carcinom- leukem- leukaem- chemother- radiother-
        alzheim- parkinson- huntington- dementia- sclerosis- schizophren- anorex- bulimi- amputat-
        aneurys- palliat-
    """),
    idioms=WordList(f"""
        {_THING} died/dying/dead, {_THING} is/was/drops … dead
        {_THING} is/was/has/just/keeps died/dying/dead
        died/dying inside, died a little/bit, dying to
        dying of/from laughter/boredom/curiosity/thirst/hunger/heat
        died laughing, died of/from laughter/boredom/embarrassment
        bored/scared/loved/done/talked/discussed/beaten to death, death by, death star/march/metal
        overdosed/overdose on/of coffee/caffeine/sugar/pizza/chocolate
        is/was/are/be/been dead end/ends/easy/simple/slow/tired/wrong/weight/serious/link/links
        deadline/deadlines/traffic/commute/heat/workload/lag/price/prices/fees/wait/stairs killed
        deadline/deadlines/traffic/commute/heat/workload/prices nearly/almost/really/totally killed
        killed the/my/our mood/vibe/battery/process/app/performance/joy/fun/momentum/deal/project
        killed it $, drowning in work/paperwork/emails/tasks/tickets, rather die than/before
        nearly/almost had/got a heart attack
        killed my/the/our afternoon/morning/day/weekend/evening/week, shot down
        are/is/absolute/was murder $/on, murder a/some/mystery/mysteries
        you/update/redesign killed
        shooting video/videos/photo/photos/pictures/film/films/star/range/for, shooting a video/film
        photo/video/film/trouble shooting, stroke of luck/genius, brush/key stroke
        it/that/this/what/which/really hit/hits/hitting/beats/beat me, hit me up/with/that/how
        beat me to, beat us to/on/by, ^ beats me
        passed the/his/her/a exam/exams/test/tests/driving/audit/interview/course/link/class
        passed it/out/through/by/me
        lost a/the friend request/requests, make it into/easy/clear
        make it to the/my meeting/event/class/office/party/session/workshop
        make it through the update/form/process/login
        gave us/me … months/month/year free, great/economic depression
    """),
    hedges=WordList("""
        maybe/perhaps/probably/possibly/depends/might, i guess/suppose, not sure, not certain
        i think so, hard/difficult to say/tell, more or less, could be, depending on
    """),
    qualities=WordList("""
        good/bad/fine/ok/okay/nice/great/better/worse/easy/hard/difficult/slow/fast/expensive/cheap
        annoying/frustrating/complicated/confusing/interesting/boring/weird/useful/useless/helpful
        terrible/awful/amazing/awesome/clunky/messy/stressful/painful/simple/convenient
    """),
    vague=WordList("""
        sometimes/often/usually/lots/somewhat/thing/things/stuff/something/many/few/several/various
        etc/whatever/occasionally, a lot/bit, kind/sort of, pretty good/bad, et cetera, and so on
    """),
    negations=WordList(
        "not/no/never/isn't/wasn't/aren't/weren't/don't/didn't/doesn't/nothing/hardly"
    ),
    reasons=WordList("""
        because/since/reason/reasons/therefore/cause/caused/causes/otherwise/cuz/coz/bc/cos/why
        so that, due/owing to, as a result, that's/thats why, that is why, in order to, thanks to
        led me/us to, so i/we/they/that/he/she/it, made me/us, given that, which means/meant
    """),
    examples=WordList("""
        for example/instance, such as, e.g., eg, e g, last …, yesterday/once, one time, one day
        when i/we/my/our/the, the other day, this morning/week/month/year, the first/second time
        monday/tuesday/wednesday/thursday/friday/saturday/sunday/january/february/april/june/july
        august/september/october/november/december, in may/march, like when, ago
    """),
    contrasts=WordList("but/however/although/though/except/whereas, on the other hand"),
    joiners=WordList("and/also/plus"),
    markers=WordList("""
        also/secondly/plus/furthermore/additionally/moreover, another thing, on top of that
        as well as, in addition
    """),
    facts=WordList("""
        ^ how many/much/old/long/often/far/soon, ^ when/where/who/which/whose, ^ what time
        ^ what year/month/day/date/age/city/country/version, ^ what's/whats your/the name/role/title
        ^ what is/are/was your/the name/names/email/e-mail/role/title/company/size/age/city/country
        ^ what is/are/was your/the phone/budget/url/link/date/deadline/position/department/industry
        ^ what is/are/was your/the … name/email/e-mail/role/title/size/zone/number/url/date/deadline
        ^ what is/are/was your/the … … name/title/number/date, what time zone
        ^ what's/whats your/the … name/email/e-mail/role/title/size/zone/number/url/date/deadline
        ^ what is/are/was the … of your team/company, ^ what is/are/was your/the address
    """),
    asks_more=WordList("""
        why/describe/explain/tell, how come, what happened, what went, talk us/me through
        walk us/me through, in detail, ^ when i/you/we/they/he/she/it/the/your, ^ where you/we/i
    """),
    yes_no_starts=WordList("""
        ^ do/does/did/are/is/was/were/have/has/had/can/could/would/will/should
        ^ don't/doesn't/didn't/aren't/isn't/wasn't/weren't/haven't/hasn't/can't/couldn't/wouldn't
        ^ won't/shouldn't/am/may/shall
    """),
)
