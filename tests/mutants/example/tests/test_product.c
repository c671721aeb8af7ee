int largest(const int *values, int count);
int unseen(int a);

int main(void)
{
    const int up[] = {-5, 2, 9, 11}, down[] = {8, 3, 2, -1}, one[] = {-4, 100}, two[] = {6, 7, 100};
    unseen(3);
    return largest(up, 4) != 11 || largest(down, 4) != 8 || largest(one, 1) != -4 || largest(two, 2) != 7;
}
