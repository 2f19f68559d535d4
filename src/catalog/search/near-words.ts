// Owns which words stand for each other: English and the vocabulary of software, one group a line.
// General words only. A line that was made for one tool, one server or one row of a benchmark does not belong here.

export const nearWords = `
get retrieve fetch obtain
find search lookup locate discover seek query
list enumerate
create generate make produce build compose
add insert append attach include
new fresh latest recent newest
delete remove erase drop clear discard
cancel abort revoke withdraw
update edit modify change revise alter adjust amend
set configure assign adjust
read view open inspect
write save record store
show display present render
send deliver transmit dispatch submit post
receive accept
move transfer relocate migrate
copy duplicate clone replicate
convert transform translate change turn
merge combine join unite concatenate consolidate
split divide separate partition
calculate compute determine evaluate
estimate approximate predict forecast project
analyze analysis examine inspect assess study evaluate
compare comparison versus vs contrast
check verify validate confirm test
monitor track watch observe follow
start begin launch run initiate trigger
restart reboot reload refresh
stop end halt terminate kill shutdown
execute run perform invoke
pause suspend
resume continue
book reserve reservation booking
schedule appointment plan arrange
reschedule postpone
buy purchase order acquire shop
sell sale
pay payment
rent lease rental hire tenant
cost price fee expense charge rate pricing
cheap affordable inexpensive discount budget
expensive costly pricey
recommend suggest recommendation suggestion advise advice propose
explain describe definition define meaning
summarize summary condense brief digest shorten abstract
rewrite rephrase paraphrase polish proofread
translate translation translator
improve enhance optimize boost optimise upgrade refine
fix repair solve resolve troubleshoot
learn study education teach tutor lesson course
remember memorize memory recall
picture image photo photograph pic
draw drawing sketch paint painting illustration
video clip footage
movie film cinema
song music track tune
audio sound voice
podcast episode
file document
doc document
folder directory
website site webpage web page
url link address
internet web online
email mail inbox
message chat dm text
sms text message
phone telephone mobile smartphone cellphone
user account member
person people individual human
company business firm enterprise organization organisation corporation
employee staff worker personnel colleague coworker
client customer
job career employment vacancy occupation
resume cv
house home property
apartment flat condo
hotel accommodation lodging stay motel hostel
trip travel journey vacation holiday tour tourism
flight airline plane airplane airfare
train rail railway
car vehicle automobile auto
bus coach transit
map navigation direction route
near nearby close closest around surrounding
place location venue spot
city town
country nation
area region district neighborhood neighbourhood zone
restaurant dining eatery diner
food meal dish cuisine
recipe cooking cook
diet nutrition
drink beverage
medicine drug medication pharmaceutical
disease illness condition sickness disorder
doctor physician
therapist psychologist counselor psychiatrist
health wellness medical
exercise workout fitness training gym
weather climate
news headline article
trend trending popular hot
paper publication article
book novel
library package module dependency
repository repo
commit revision
bug issue defect
ticket issue
issue problem
task todo
note memo
reminder remind alarm alert
notification notify alert
meeting conference call
event activity happening
date day
time hour clock
calendar agenda
database db
table sheet spreadsheet worksheet
row record entry
column field
chart graph plot diagram visualization visualize figure
slide presentation ppt powerpoint deck slideshow
spreadsheet excel xlsx xls
word docx
config configuration setting preference
environment env
authentication auth login signin credential
password passphrase secret
permission access right privilege
log logging
error exception failure fault crash
server host
container docker
pod container
deploy deployment release
function method procedure
code program script programming source coding
developer programmer engineer
app application
api endpoint
parameter argument param
variable var
temporary temp
maximum max highest largest greatest
minimum min lowest smallest least
average mean avg
number integer numeric
count quantity amount total
total sum addition add plus
subtract minus subtraction difference
multiply product multiplication times
divide division quotient
percent percentage
statistics stats statistical
probability likelihood chance odds
information info detail details data
description summary
identifier id
language lang
sentence phrase text
keyword term
question query
answer reply response respond
rank ranking rating
rating review
score result
stock share equity ticker
finance financial money monetary
investment invest portfolio
loan mortgage borrow lend
tax taxation
bank banking
currency money
exchange convert
crypto cryptocurrency bitcoin ethereum blockchain token coin
salary wage income earnings pay
revenue sales turnover
profit gain
invoice bill receipt
transaction payment
budget spending expenditure
insurance coverage policy
law legal legislation regulation
lawyer attorney
crime criminal
school university college
student pupil
teacher instructor professor
game gaming play
player athlete
team club
match game fixture
sport sports
football soccer
joke humor funny
art artwork artistic
museum gallery
history historical past
science scientific
gene genetic dna genome
species organism animal plant
element chemical
temperature heat
speed velocity
weight mass
height altitude elevation
distance length
size dimension
coordinates latitude longitude geocode gps lat lon lng
address street
zip postal postcode zipcode
energy power electricity
advertisement ad advert advertising ads campaign
marketing promotion advertising
brand logo
product item goods merchandise
gift present
clothes clothing apparel outfit wear fashion garment
beauty cosmetics makeup
shop store retailer market
deal offer coupon promo voucher discount
delivery shipping shipment courier
package parcel
inventory stock warehouse
horoscope zodiac astrology
pet dog cat animal
earthquake seismic quake
screenshot capture snapshot
browser tab
click press tap
upload attach
download fetch
compress zip archive
extract unzip parse scrape
scrape crawl crawler
random randomly shuffle
encrypt encryption cipher
hash checksum
color colour
template layout
header heading title
comment remark feedback
category type kind genre class
version release
status state
property attribute
sensor device
light lamp lighting bulb
trash bin recycle
share sharing
cluster kubernetes
bucket storage
label tag
folder workspace
member user
conversation thread chat
channel room
subscribe subscription subscriber
quote quotation saying
lyrics song
actor actress cast
author writer
director filmmaker
celebrity famous star
baby infant newborn
child kid children
woman female girl
man male boy
mother mom parent
quick fast rapid
big large huge
small tiny little
ip address
domain dns
certificate ssl tls
queue topic
backup restore snapshot
schema structure
regex pattern
vulnerability exploit cve
cron schedule
metric measurement
timezone tz
vehicle truck
fuel gas petrol gasoline
vote poll survey
questionnaire survey form
signature sign
barcode qr
enable activate
disable deactivate
mr merge request
pr pull request
`;
