//===- Alone.cpp - a program of one library -----------------------------------===//
int main() {}
