/* For `sum_of` of extern.p4: a loop of more turns than the verifier follows. */
u32 sum_of(u32 offset)
{
    u32 sum = offset;

    for (u32 i = 0; i < 1000000; i++) {
        asm volatile("" : "+r"(sum));
        if (sum == 77)
            break;
        sum += i;
    }
    return sum;
}
