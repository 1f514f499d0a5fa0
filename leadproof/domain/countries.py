"""Countries by their ISO 3166-1 alpha-2 code: forms say "Germany", "DEU" or "Deutschland" and mean one country."""

from __future__ import annotations

import unicodedata
from typing import Final

# alpha-2, alpha-3, then the names that people write; XK is not of ISO 3166-1 and commonly used for Kosovo
_TABLE: Final = """
AD AND Andorra
AE ARE United Arab Emirates; UAE; Emirates
AF AFG Afghanistan
AG ATG Antigua and Barbuda
AI AIA Anguilla
AL ALB Albania
AM ARM Armenia
AO AGO Angola
AQ ATA Antarctica
AR ARG Argentina
AS ASM American Samoa
AT AUT Austria; Österreich
AU AUS Australia
AW ABW Aruba
AX ALA Åland Islands
AZ AZE Azerbaijan
BA BIH Bosnia and Herzegovina; Bosnia
BB BRB Barbados
BD BGD Bangladesh
BE BEL Belgium; België; Belgique; Belgien
BF BFA Burkina Faso
BG BGR Bulgaria
BH BHR Bahrain
BI BDI Burundi
BJ BEN Benin
BL BLM Saint Barthélemy
BM BMU Bermuda
BN BRN Brunei; Brunei Darussalam
BO BOL Bolivia; Plurinational State of Bolivia
BQ BES Bonaire, Sint Eustatius and Saba
BR BRA Brazil; Brasil
BS BHS Bahamas
BT BTN Bhutan
BV BVT Bouvet Island
BW BWA Botswana
BY BLR Belarus
BZ BLZ Belize
CA CAN Canada
CC CCK Cocos Islands; Cocos (Keeling) Islands
CD COD Democratic Republic of the Congo; DR Congo; Congo (Kinshasa)
CF CAF Central African Republic
CG COG Congo; Republic of the Congo; Congo (Brazzaville)
CH CHE Switzerland; Schweiz; Suisse; Svizzera
CI CIV Côte d'Ivoire; Ivory Coast
CK COK Cook Islands
CL CHL Chile
CM CMR Cameroon
CN CHN China; People's Republic of China
CO COL Colombia
CR CRI Costa Rica
CU CUB Cuba
CV CPV Cabo Verde; Cape Verde
CW CUW Curaçao
CX CXR Christmas Island
CY CYP Cyprus
CZ CZE Czechia; Czech Republic
DE DEU Germany; Deutschland; Federal Republic of Germany; Allemagne
DJ DJI Djibouti
DK DNK Denmark; Danmark
DM DMA Dominica
DO DOM Dominican Republic
DZ DZA Algeria
EC ECU Ecuador
EE EST Estonia
EG EGY Egypt
EH ESH Western Sahara
ER ERI Eritrea
ES ESP Spain; España
ET ETH Ethiopia
FI FIN Finland; Suomi
FJ FJI Fiji
FK FLK Falkland Islands
FM FSM Micronesia; Federated States of Micronesia
FO FRO Faroe Islands
FR FRA France; Frankreich
GA GAB Gabon
GB GBR United Kingdom; UK; Great Britain; United Kingdom of Great Britain and Northern Ireland
GD GRD Grenada
GE GEO Georgia
GF GUF French Guiana
GG GGY Guernsey
GH GHA Ghana
GI GIB Gibraltar
GL GRL Greenland
GM GMB Gambia
GN GIN Guinea
GP GLP Guadeloupe
GQ GNQ Equatorial Guinea
GR GRC Greece; Hellas
GS SGS South Georgia and the South Sandwich Islands
GT GTM Guatemala
GU GUM Guam
GW GNB Guinea-Bissau
GY GUY Guyana
HK HKG Hong Kong
HM HMD Heard Island and McDonald Islands
HN HND Honduras
HR HRV Croatia; Hrvatska
HT HTI Haiti
HU HUN Hungary; Magyarország
ID IDN Indonesia
IE IRL Ireland; Republic of Ireland; Éire
IL ISR Israel
IM IMN Isle of Man
IN IND India
IO IOT British Indian Ocean Territory
IQ IRQ Iraq
IR IRN Iran; Islamic Republic of Iran
IS ISL Iceland
IT ITA Italy; Italia; Italien
JE JEY Jersey
JM JAM Jamaica
JO JOR Jordan
JP JPN Japan
KE KEN Kenya
KG KGZ Kyrgyzstan
KH KHM Cambodia
KI KIR Kiribati
KM COM Comoros
KN KNA Saint Kitts and Nevis
KP PRK North Korea; Democratic People's Republic of Korea; Korea, Democratic People's Republic of
KR KOR South Korea; Republic of Korea; Korea, Republic of; Korea
KW KWT Kuwait
KY CYM Cayman Islands
KZ KAZ Kazakhstan
LA LAO Laos; Lao People's Democratic Republic
LB LBN Lebanon
LC LCA Saint Lucia
LI LIE Liechtenstein
LK LKA Sri Lanka
LR LBR Liberia
LS LSO Lesotho
LT LTU Lithuania
LU LUX Luxembourg; Luxemburg
LV LVA Latvia
LY LBY Libya
MA MAR Morocco
MC MCO Monaco
MD MDA Moldova; Republic of Moldova
ME MNE Montenegro
MF MAF Saint Martin
MG MDG Madagascar
MH MHL Marshall Islands
MK MKD North Macedonia; Macedonia
ML MLI Mali
MM MMR Myanmar; Burma
MN MNG Mongolia
MO MAC Macao; Macau
MP MNP Northern Mariana Islands
MQ MTQ Martinique
MR MRT Mauritania
MS MSR Montserrat
MT MLT Malta
MU MUS Mauritius
MV MDV Maldives
MW MWI Malawi
MX MEX Mexico; México
MY MYS Malaysia
MZ MOZ Mozambique
NA NAM Namibia
NC NCL New Caledonia
NE NER Niger
NF NFK Norfolk Island
NG NGA Nigeria
NI NIC Nicaragua
NL NLD Netherlands; Holland; Nederland
NO NOR Norway; Norge
NP NPL Nepal
NR NRU Nauru
NU NIU Niue
NZ NZL New Zealand; Aotearoa
OM OMN Oman
PA PAN Panama
PE PER Peru; Perú
PF PYF French Polynesia
PG PNG Papua New Guinea
PH PHL Philippines
PK PAK Pakistan
PL POL Poland; Polska
PM SPM Saint Pierre and Miquelon
PN PCN Pitcairn
PR PRI Puerto Rico
PS PSE Palestine; State of Palestine
PT PRT Portugal
PW PLW Palau
PY PRY Paraguay
QA QAT Qatar
RE REU Réunion
RO ROU Romania; România
RS SRB Serbia
RU RUS Russia; Russian Federation
RW RWA Rwanda
SA SAU Saudi Arabia
SB SLB Solomon Islands
SC SYC Seychelles
SD SDN Sudan
SE SWE Sweden; Sverige
SG SGP Singapore
SH SHN Saint Helena, Ascension and Tristan da Cunha; Saint Helena
SI SVN Slovenia
SJ SJM Svalbard and Jan Mayen
SK SVK Slovakia
SL SLE Sierra Leone
SM SMR San Marino
SN SEN Senegal
SO SOM Somalia
SR SUR Suriname
SS SSD South Sudan
ST STP Sao Tome and Principe
SV SLV El Salvador
SX SXM Sint Maarten
SY SYR Syria; Syrian Arab Republic
SZ SWZ Eswatini; Swaziland
TC TCA Turks and Caicos Islands
TD TCD Chad
TF ATF French Southern Territories
TG TGO Togo
TH THA Thailand
TJ TJK Tajikistan
TK TKL Tokelau
TL TLS Timor-Leste; East Timor
TM TKM Turkmenistan
TN TUN Tunisia
TO TON Tonga
TR TUR Türkiye; Turkey
TT TTO Trinidad and Tobago
TV TUV Tuvalu
TW TWN Taiwan
TZ TZA Tanzania; United Republic of Tanzania
UA UKR Ukraine
UG UGA Uganda
UM UMI United States Minor Outlying Islands
US USA United States; United States of America; America
UY URY Uruguay
UZ UZB Uzbekistan
VA VAT Vatican City; Holy See
VC VCT Saint Vincent and the Grenadines
VE VEN Venezuela; Bolivarian Republic of Venezuela
VG VGB British Virgin Islands
VI VIR United States Virgin Islands; US Virgin Islands
VN VNM Vietnam; Viet Nam
VU VUT Vanuatu
WF WLF Wallis and Futuna
WS WSM Samoa
XK XKX Kosovo
YE YEM Yemen
YT MYT Mayotte
ZA ZAF South Africa
ZM ZMB Zambia
ZW ZWE Zimbabwe
"""


def _folded(text: str) -> str:
    letters = unicodedata.normalize("NFKD", text.replace("&", " and ")).casefold()
    plain = "".join(one for one in letters if one.isalpha() or one == " ")
    return "".join(word for word in plain.split() if word != "the")


def _by_name() -> dict[str, str]:
    known = {}
    for line in _TABLE.strip().splitlines():
        alpha_2, alpha_3, names = line.split(" ", 2)
        for name in (alpha_2, alpha_3, *names.split("; ")):
            known[_folded(name)] = alpha_2
    return known


_BY_NAME: Final = _by_name()


def code(text: str) -> str | None:
    """The alpha-2 code of a country given by code or name, whatever its case, accents and punctuation.

    Returns:
        `None` where the text names no country that the table knows.
    """
    return _BY_NAME.get(_folded(text))
