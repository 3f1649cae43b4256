# Commands whose output is searched for what a terminal would obey: control characters but ends of lines and tabs, those of C1, and
# what turns the direction of writing. `looked` prints the status and how many lines have some.

E=$(printf '\033')
C1=$(printf '\302\233')
TURN=$(printf '\342\200\256')
LINE=$(printf 'a\nb')
DEV="v${E}[2J$C1"
FILE="p${E}[31m${C1}1m$TURN$LINE"

looked() {
    "$@" > seen.txt 2>&1
    echo "status $?, $(LC_ALL=C grep -cP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]' seen.txt) lines, $(wc -c < seen.txt | sed 's/^0$/nothing/; s/^[1-9].*/something/') printed"
}

# A program whose table, keys and objects have such names.
sed "s/NAME/n${E}[2J$C1$TURN/g" hostile.p4.in > "$FILE.p4"
