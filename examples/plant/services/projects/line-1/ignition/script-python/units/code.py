def celsius(kelvin):
    return kelvin - 273.15
