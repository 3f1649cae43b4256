typedef void nothing; //~ E0331 `void` cannot be given
struct s_t { bit<8> x; }
type s_t mine; //~ E0331 `s_t` cannot be given
enum bool b_t { x = true } //~ E0326 represented by `bool`
enum bit<8> c_t { x = 1, y } //~ E0327 the member `y` has no value
enum d_t { x = 1 } //~ E0328 without representation
header bad_t { s_t ok; int x; } //~ E0303 `int` cannot be a field of a header
header_union u_t { bit<8> x; } //~ E0303 a member of a header union
struct v_t { void x; } //~ E0303 a field of a struct
enum plain_t { a }
header e_t { plain_t p; } //~ E0303 `plain_t` cannot be
typedef void[4] stack_t; //~ E0303 `void` cannot be the element of an array
typedef tuple<void> t_t; //~ E0303 an element of a tuple
header ok_t { bit<8> x; }
typedef ok_t[-1] less_t; //~ E0323 -1 elements
typedef ok_t[1024] most_t;
typedef ok_t[1025] more_t; //~ E0323 1025 elements
typedef bit<(-1)> neg_t; //~ E0322 a width of -1
typedef int<0> izero_t; //~ E0322 a width of 0
typedef bit<100000> wide_t; //~ E0322 a width of 100000
typedef bit<(true)> bool_t; //~ E0302 expected an integer
struct empty_t {}
struct two_of<T> { T a; T b; }
typedef two_of<two_of<two_of<two_of<ok_t>>>> p16;
typedef two_of<two_of<two_of<two_of<p16>>>> p256;
typedef two_of<two_of<two_of<two_of<p256>>>> p4k;
typedef two_of<two_of<two_of<two_of<two_of<p4k>>>>> p128k; //~ E0324 this type is too large
struct kilo_t { ok_t[1024] s; }
struct huge_t { two_of<two_of<two_of<two_of<two_of<two_of<kilo_t>>>>>> a; } //~ E0324 this type is too large
header array_t { error[16] bytes; } //~ E0303 `error[16]` cannot be a field of a header
enum bit<8> over_t { unknown = 300 } //~ E0347 300 does not fit in `bit<8>`
enum int<8> edge_t { least = -128, most = 127, over = 128 } //~ E0347 128 does not fit in `int<8>`
enum bit<4> below_t { x = -1 } //~ E0347 -1 does not fit in `bit<4>`
