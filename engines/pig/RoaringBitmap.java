package org.apache.pig.org.roaringbitmap;

/** Stands for a class that pig-0.18.0-h2.jar refers to under this name and does not hold; only its Bloom joins use it. */
public class RoaringBitmap {}
