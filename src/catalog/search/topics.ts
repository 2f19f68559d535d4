// Owns what people say when they mean something else: who asks about rain wants the weather. Leads from the words behind
// the colon to those before it, never back. General words only: no line is made for one tool, server or row of a benchmark.

export const topics = `
weather forecast: rain rainy sunny snow storm wind windy humidity humid umbrella temperature cold hot cloudy thunderstorm hurricane degrees celsius fahrenheit
air quality pollution: smog pollen aqi breathe haze
travel trip: flight hotel vacation itinerary sightseeing tourist visit destination abroad backpacking passport visa luggage airport cruise honeymoon getaway attraction tour landmark
attraction: museum park landmark zoo sightseeing monument theme
flight: fly airport plane airline boarding layover
hotel: room stay suite resort accommodation night sleep
restaurant: dinner lunch eat dine italian chinese mexican sushi pizza burger brunch menu cuisine table vegan
food: eat hungry snack meal grocery dinner lunch breakfast burger pizza
recipe cooking: bake baking cake ingredients cook dish cuisine kitchen meal dinner dessert soup cookie bread pasta chicken cocktail vegetarian
diet nutrition: calorie calories protein vitamin carbs weight healthy eating eat vegan keto meal food nutritional
fitness exercise: workout yoga running muscle gym jog squat cardio stretching strength marathon
health medical: symptom pain doctor disease hospital patient treatment diagnosis headache fever clinic therapy medication sick cancer diabetes
clinical trial: drug treatment patients study therapy disease
mental health: anxiety stress depression therapy mood meditation mindfulness
habit: routine productivity discipline goal daily procrastination
job career: resume cv interview hiring salary recruiter employer candidate vacancy internship position profession cover
recruit: candidate hire hiring talent
house property real estate: apartment bedroom condo villa mortgage realtor rent rental home buy landlord bathroom townhouse loft studio
rent: apartment tenant landlord lease flat housing
purchase: buy buying afford
finance financial stock: invest investment stocks shares dividend market portfolio earnings trading bond etf fund ticker investor bank retirement savings
stock price: shares ticker quote equity market
investment: portfolio stocks bonds asset retirement savings wealth
crypto: bitcoin ethereum wallet token nft blockchain defi mining
currency exchange: dollar dollars euro euros yen pound pounds rupee rupees yuan peso franc usd eur gbp jpy inr cny forex
tax: deduction refund vat
product shopping: buy purchase shop price laptop shoes camera headphones phone smartphone watch smartwatch furniture appliance brand gadget sale durable affordable store order online
product: item laptop phone headphones shoes camera tv tablet backpack jacket chair sofa printer vacuum model brand
shop: buy store shopping mall
compare: versus better best difference cheaper
discount deal: cheap coupon promo sale bargain save voucher cheaper goodies
gift: birthday anniversary wedding christmas present valentine
fashion clothing apparel: dress outfit wear shirt hoodie jacket shoes jeans style stylish wardrobe sweater tshirt
beauty: makeup skincare lipstick cosmetic hair
news: headline headlines breaking politics journalist current latest economy happening update updates world
article: news blog post read magazine newspaper journal encyclopedia
academic paper research: scholar literature dissertation thesis citation journal study publication researcher scientific review professor
research: literature dissertation thesis study scholarly
book: read reading novel author bestseller fiction literature
music: song playlist album artist band singer melody lyrics concert tune track rap jazz
song: lyrics melody sing singer
chord: guitar piano ukulele
movie film: watch actor actress director cinema comedy horror thriller drama genre starring series show
video: watch clip vlog streaming channel movie
podcast: episode listen host
tv: show series episode watch
game: play player gaming gamer puzzle quiz trivia multiplayer level quest rpg chess
sport: football basketball baseball soccer tennis nba nfl nhl mlb league team match player score tournament championship athlete golf cricket hockey season playoff
team: nba nfl mlb nhl league roster
football soccer: league goal premier match
joke: funny laugh humor comedian
image: photo picture draw visual graphic pixel wallpaper illustration portrait canvas png jpg jpeg gallery camera
image generate: draw illustrate paint artwork picture
art: painting artist sculpture gallery museum
design: logo layout ui ux mockup interior banner poster graphic
logo: brand icon
chart: graph plot bar pie visualize histogram diagram trend line scatter
diagram: flowchart mindmap uml architecture
presentation slide: powerpoint deck pitch
document: pdf word report paper contract letter essay docx
report: document summary
pdf: document page ebook
write: essay report letter draft blog author
writing: essay grammar story blog article draft author poem novel content write
story: tale fairy character fiction adventure bedtime narrative
poem: poetry rhyme verse
text: sentence paragraph word phrase string
string: text word sentence
concatenate: combine join together
translate language: english french spanish german chinese japanese korean italian portuguese russian arabic hindi say
language: english french spanish german chinese japanese korean vocabulary pronunciation grammar speak fluent ielts toefl
learn education: study exam student homework school class course tutorial math teacher lesson college quiz tutor university textbook kids children curriculum
course: class lecture learn tutorial degree lesson training
question: ask answer quiz
calculate calculator math: sum multiply divide equation algebra square root formula arithmetic plus minus number percentage solve add subtract calculus fraction much total
math: equation algebra geometry calculus integral derivative solve
convert: unit units conversion kilometers miles celsius fahrenheit pounds kilograms ounces inches meters exchange
statistics: mean median deviation variance regression probability average
data: dataset csv analytics statistics table metrics
analytics: insight insights metrics traffic statistics kpi dashboard conversion
database sql: query table schema postgres mysql sqlite column row record
search engine: look find
web search: internet online browse look information
web page: website url html browse site link scrape content
website: domain blog landing url webpage hosting seo
url: link website webpage http shorten
seo: keyword keywords ranking rank serp backlink backlinks organic traffic visibility optimize website search optimization content audience
keyword: seo search ranking term
advertisement marketing: campaign audience brand promote promotion ppc click clicks leads conversion customer copywriting ad ads slogan
social media: post tweet hashtag influencer followers
sales lead: prospect prospects outreach pipeline crm deal
customer: client crm support buyer feedback
company business: startup firm revenue ceo industry competitor corporate headquarters founder
email: inbox newsletter subject mailing
message: chat sms text notify reply conversation
notify: alert notification remind
calendar event: meeting appointment schedule birthday invite availability
schedule: meeting appointment calendar plan time reminder session
reminder task: todo remember deadline remind forget alarm
task project: todo manage prioritize deadline productivity assign milestone management organize kanban
project management: task tasks milestone deadline sprint team prioritize schedule
event: concert festival party show exhibition conference wedding ceremony tickets theater
ticket: concert show theater seat game event broadway festival
note: remember jot memo memory
memory: remember recall forget conversation save store
chat: conversation talk
file: folder directory disk save path document txt csv read upload
code programming: python javascript java function debug program script algorithm compile software developer coding bug html
repository: git commit branch code pull clone
git: commit branch merge repository
app: application mobile ios android software build
developer: programming coding software tutorial code
api: endpoint request http rest webhook integration
webhook: notify trigger automatically
automation workflow: automate automatically trigger
deploy cloud: server hosting kubernetes infrastructure container
infrastructure: cloud server
monitor: metrics uptime alert performance latency
performance: slow fast speed latency load
security: vulnerability hack phishing malware password attack threat breach
vulnerability: cve exploit security
network: ip dns bandwidth router traffic firewall latency
firewall: block port traffic
domain: dns website whois registrar
map location: directions navigate route nearby distance address place where street gps
location: city address where country coordinates
route directions: drive driving traffic commute travel navigate walk way
coordinates geocode: latitude longitude place address location
distance: far miles kilometers between
ride taxi: cab driver
car: drive vehicle dealer suv sedan mileage engine
car rental: rent drive
electric charging: ev charger
fuel: gas petrol gasoline diesel
parking carpark: park spot garage
train: railway station subway metro
astrology horoscope: zodiac stars aries taurus gemini leo virgo libra scorpio sagittarius capricorn aquarius pisces birth chart fortune destiny future sun
tarot: cards fortune future reading
dream: sleep nightmare
pet: dog cat puppy kitten vet animal
animal: dog cat wildlife bird species
plant: garden gardening flower grow tree
earthquake: seismic magnitude tremor quake tsunami
disaster: earthquake flood hurricane wildfire
space astronomy: nasa planet star mars galaxy telescope moon satellite rocket
legal law: lawyer attorney contract court sue rights regulation lawsuit statute compliance
contract: agreement legal clause sign
court case: lawsuit judge plaintiff trial
charity donate: donation nonprofit volunteer fundraise cause
government policy: election president senate congress law political vote
history: war century ancient historical civilization king empire president revolution
religion: bible church prayer god islam quran christian
science: physics chemistry biology experiment
chemistry: molecule compound reaction element
biology: cell gene protein dna species organism
physics: force velocity acceleration gravity mass energy
restaurant booking reservation: table dinner reserve lunch
ticket support: issue complaint helpdesk
review: opinion rating feedback stars
smart home: lights thermostat lamp
light: lamp bulb brightness dim
qr code: qr scan barcode
ocr: scan handwriting recognize handwritten text image
speech: voice speak audio transcript
transcript: subtitles captions transcribe transcription
audio: sound listen voice recording
summary: key points gist overview main
decision: decide choose dilemma choice options
plan: planning schedule organize itinerary
surf: waves beach surfing ocean tide
drink: beer wine cocktail whiskey bar alcohol
service provider: cleaning cleaner maid ironing plumber electrician repair laundry housekeeper handyman nanny gardener
therapist: psychologist counselor counseling anxiety psychiatrist
doctor: dentist physician appointment
salon: haircut barber hair stylist
family children: kids kid child parenting baby toddler
random: dice roll coin flip pick
dice: roll
avatar character: persona roleplay
time: date clock hour timezone today
password: credential login generate secure
money: dollars cash price cost
music event: concert
trending: popular viral hot trend trends topics
price: cost much cheap expensive
user: profile account member
profile: user account player person athlete
person: individual who people
inventory: stock available availability restock sizes warehouse
order: delivery takeout
vacation: holiday absence office leave
leave: vacation sick holiday absence
expense: reimbursement receipt spending
invoice: billing bill charge
payment: pay card checkout refund transfer
loan: mortgage borrow interest installment
insurance: claim premium policy coverage
shipment: package tracking delivery parcel courier freight
flag feature: toggle rollout enable
slide: presentation powerpoint
spreadsheet sheet: excel cell cells row column
cell: spreadsheet
shell command: terminal bash run execute
terminal: shell command bash console
log: debug stderr output trace
screenshot: picture capture screen
browser: click navigate tab webpage
navigate: go visit open back
vector: embedding similar similarity semantic
knowledge graph entity: remember fact relation
entity: person fact
translate: english french spanish german japanese
sentiment: opinion positive negative emotion mood
classify: category categorize label detect
detect: recognize identify
gene: mutation variant genome chromosome
protein: structure sequence amino
molecule: compound smiles chemical
blood: pressure glucose heart
population: census demographic inhabitants
crime: police theft murder robbery
election: vote candidate poll
football: touchdown quarterback
lottery: jackpot draw
word: dictionary definition synonym antonym rhyme spell
dictionary: definition word synonym meaning
quote: inspirational motivational saying
meme: funny gif
gif: animation animated meme
emoji: smiley
name: called
age: old birthday born
date: today tomorrow
holiday: christmas thanksgiving
hashtag: caption post
barcode: upc ean scan
iban: bank
ip: geolocation network
phone number: call sms dial
call: phone dial
`;
