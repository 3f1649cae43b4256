/* For `sum_of` of extern.p4. */
u32 sum_of(u32 offset)
{
    return offset + 1;
}
