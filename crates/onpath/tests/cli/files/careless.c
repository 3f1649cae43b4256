/* For `sum_of` of extern.p4: where careless_clang.sh optimises in full, it does with an address what no verifier takes. */
u32 sum_of(u32 offset)
{
#ifdef CARELESS
    u64 address = (u64)&offset;
    asm volatile("%0 <<= 1" : "+r"(address));
    return address;
#else
    return offset + 1;
#endif
}
